! SPDX-License-Identifier: BSD-3-Clause
! Uses the module sluice: phases, activities with attributes, and questions.
program instrument
    use, intrinsic :: iso_c_binding
    use sluice
    implicit none
    integer(sluice_activity) :: all, part
    type(sluice_target_type) :: answer
    character(len=32) :: value
    integer :: step

    call sluice_phase('read input')
    call write_file('input', 4)
    call sluice_phase('solve   ')
    do step = 1, 3
        all = sluice_begin(sluice_register('checkpoint'), 'write')
        call sluice_step(all, step)
        call sluice_bytes(all, 8192_c_int64_t)
        call sluice_text(all, 'format', 'raw')
        call sluice_number(all, 'ranks', 4)
        part = sluice_begin(sluice_register('checkpoint'), 'fields')
        call sluice_link(part, all)
        call write_file('fields', 8)
        call sluice_end(part)
        call sluice_fail(all, merge(5, 0, step == 3))
    end do
    ! Wrong use.
    call sluice_end(all)
    call sluice_text(12345_c_int64_t, 'key', 'value')
    value = 'none'
    print '(a,l1,1x,l1,1x,l1,1x,a)', 'answers ', sluice_target('none', answer), sluice_target_at(1, answer), &
        sluice_best('cb_nodes', '', value), trim(value)
    print '(a,i0)', 'advised ', sluice_advise(1000000_c_int64_t)
    print '(a,l1)', 'present ', sluice_is_present()
contains
    subroutine write_file(name, blocks)
        character(len=*), intent(in) :: name
        integer, intent(in) :: blocks
        character(len=1024) :: block
        integer :: unit, i

        block = ''
        open (newunit=unit, file=name, access='stream', form='unformatted', status='replace')
        do i = 1, blocks
            write (unit) block
        end do
        close (unit)
    end subroutine
end program
