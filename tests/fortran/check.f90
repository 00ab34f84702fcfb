! What all programs here share: a condition that has to hold.
subroutine check(holds, what)
  implicit none
  logical, intent(in) :: holds
  character(len=*), intent(in) :: what
  if (holds) return
  print *, 'wrong: ', what
  flush (6)
  error stop 1
end subroutine
