<?php
// The sum of squares, by as many processes as there are: postrider ipc run -n 4 php squares.php

const LAST = 100, SUM = 1, LEFT = 2;

$key = ftok(__FILE__, 's');
$turn = sem_get($key);

// Whoever comes first makes all, hands out the tasks, and works like the others. PHP itself makes no queue and no memory safely while another does.
sem_acquire($turn);
$tasks = msg_get_queue($key);
$memory = shm_attach($key, 10000);
if (!shm_has_var($memory, LEFT)) {
    shm_put_var($memory, SUM, 0);
    shm_put_var($memory, LEFT, LAST);
    for ($number = 1; $number <= LAST; $number++) {
        msg_send($tasks, 1, $number);
    }
}
sem_release($turn);

while (msg_receive($tasks, 0, $type, 100, $number) && $number > 0) {
    sem_acquire($turn);
    shm_put_var($memory, SUM, shm_get_var($memory, SUM) + $number * $number);
    $left = shm_get_var($memory, LEFT) - 1;
    shm_put_var($memory, LEFT, $left);
    if ($left == 0) {
        echo shm_get_var($memory, SUM), "\n";
        msg_send($tasks, 1, 0);
    }
    sem_release($turn);
}
// There are no tasks any more, for the others, too.
msg_send($tasks, 1, 0);
