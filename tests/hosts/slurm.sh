#!/bin/bash
# Slurm on one host of a bed: `slurm.sh LAST`, on h0 to hLAST, of which h1 to hLAST are nodes.
#
# Every host runs its own munged with the machine's key; h0 runs slurmctld, each node slurmd. They keep their files in /run, so that /tmp
# belongs to jobs. On h0 the script returns when all nodes can be used. What goes wrong is in /run/slurm/*.log.
set -eu
last=$1
mkdir -p /etc/slurm /run/slurm/state /run/slurm/spool /run/munge
chown munge: /run/munge
cat >/etc/slurm/slurm.conf <<CONFIGURATION
ClusterName=bed
SlurmctldHost=h0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
SrunPortRange=60001-63000
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/spool
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldLogFile=/run/slurm/slurmctld.log
SlurmdLogFile=/run/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerParameters=sched_min_interval=0,sched_interval=1,batch_sched_delay=0,bf_interval=1
CompleteWait=0
EpilogMsgTime=1
NodeName=h[1-$last] CPUs=2 RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONFIGURATION
# Nothing is done with control groups; without this slurmd looks which kind the machine has.
echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf

background() {
    setsid "$@" >>/run/slurm/start.log 2>&1 </dev/null &
}

# Asks again for up to a minute.
await() {
    for _ in $(seq 600); do
        if eval "$1"; then return; fi
        sleep 0.1
    done
    cat /run/slurm/*.log >&2
    exit 1
}

background setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --key-file=/etc/munge/munge.key \
    --log-file=/run/munge/log --pid-file=/run/munge/pid --seed-file=/run/munge/seed
await '[ -S /run/munge/munge.socket.2 ]'
if [ "$(hostname)" = h0 ]; then
    background slurmctld -D
    await "[ \"\$(sinfo --noheader --format='%T %D' 2>/dev/null)\" = 'idle $last' ]"
else
    background slurmd -D
fi
