! SPDX-License-Identifier: BSD-3-Clause
!
! Explicit instrumentation for Fortran: the functions of sluice/instrument.h, which is their manual.
! Compile this file with the program (a module file belongs to one compiler). It needs no library:
!
!	gfortran -c $(pkg-config --variable=fortran sluice)
!	gfortran program.f90 sluice.o
!
!	use sluice
!	integer(sluice_activity) :: write
!	call sluice_phase('solve')
!	write = sluice_begin(sluice_register('checkpoint'), 'write')
!	call sluice_step(write, step)
!	...
!	call sluice_end(write)
!
! Without Sluice, a call is one load and one branch. Blanks at the end of texts are not recorded.
module sluice
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer, parameter, public :: sluice_activity = c_int64_t, sluice_component = c_int32_t
    integer, parameter, public :: sluice_name_bytes = 64

    type, bind(c) :: c_target
        character(kind=c_char) :: name(sluice_name_bytes)
        real(c_double) :: busy, share, slowdown, age_s
    end type

    ! A storage target: see struct sluice_target.
    type, public :: sluice_target_type
        character(len=sluice_name_bytes) :: name = ''
        real(c_double) :: busy = -1, share = -1, slowdown = 0, age_s = 0
    end type

    ! struct sluice_instrument
    type, bind(c) :: table
        integer(c_int32_t) :: abi, bytes
        type(c_funptr) :: component, begin, text, number, step, data, link, end, phase, &
                  target, target_at, best
    end type
    integer(c_int32_t), parameter :: abi = 1

    integer, parameter :: unknown = 0, absent = 1, present = 2
    integer, save :: state = unknown
    type(table), pointer, save :: found => null()

    interface
        function dlsym(handle, name) bind(c, name='dlsym') result(address)
            import
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr) :: address
        end function
    end interface

    abstract interface
        function component_function(name, bytes) bind(c) result(component)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
            integer(c_int32_t) :: component
        end function
        function begin_function(component, name, bytes) bind(c) result(activity)
            import
            integer(c_int32_t), value :: component
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
            integer(c_int64_t) :: activity
        end function
        subroutine text_function(activity, key, key_bytes, value, value_bytes) bind(c)
            import
            integer(c_int64_t), value :: activity
            character(kind=c_char), intent(in) :: key(*), value(*)
            integer(c_size_t), value :: key_bytes, value_bytes
        end subroutine
        subroutine number_function(activity, key, key_bytes, number) bind(c)
            import
            integer(c_int64_t), value :: activity, number
            character(kind=c_char), intent(in) :: key(*)
            integer(c_size_t), value :: key_bytes
        end subroutine
        subroutine value_function(activity, number) bind(c)
            import
            integer(c_int64_t), value :: activity, number
        end subroutine
        subroutine end_function(activity, error) bind(c)
            import
            integer(c_int64_t), value :: activity
            integer(c_int32_t), value :: error
        end subroutine
        subroutine phase_function(name, bytes) bind(c)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
        end subroutine
        function target_function(name, bytes, answer) bind(c) result(is_known)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
            type(c_target), intent(inout) :: answer
            integer(c_int32_t) :: is_known
        end function
        function target_at_function(number, answer) bind(c) result(is_known)
            import
            integer(c_int32_t), value :: number
            type(c_target), intent(inout) :: answer
            integer(c_int32_t) :: is_known
        end function
        function best_function(parameter, parameter_bytes, file, file_bytes, value, value_bytes) &
                bind(c) result(is_known)
            import
            character(kind=c_char), intent(in) :: parameter(*), file(*)
            integer(c_size_t), value :: parameter_bytes, file_bytes, value_bytes
            character(kind=c_char), intent(inout) :: value(*)
            integer(c_int32_t) :: is_known
        end function
    end interface

    public :: sluice_is_present, sluice_register, sluice_begin, sluice_text, sluice_number, sluice_step, &
          sluice_bytes, sluice_link, sluice_fail, sluice_end, sluice_phase, sluice_target, &
          sluice_target_at, sluice_advise, sluice_best

    ! Numbers of the default kind and of 64 bits.
    interface sluice_number
        module procedure number_default, number_long
    end interface
    interface sluice_step
        module procedure step_default, step_long
    end interface
    interface sluice_bytes
        module procedure bytes_default, bytes_long
    end interface

contains
    ! Several threads may search at the same time; all of them find the same.
    subroutine search()
        type(c_ptr) :: address
        type(table), pointer :: functions

        address = dlsym(c_null_ptr, 'sluice_instrument_1' // c_null_char)
        if (.not. c_associated(address)) then
            state = absent
            return
        end if
        call c_f_pointer(address, functions)
        if (functions%abi /= abi .or. functions%bytes < c_sizeof(functions)) then
            state = absent
            return
        end if
        found => functions
        state = present
    end subroutine

    function sluice_is_present() result(is_present)
        logical :: is_present

        if (state == unknown) call search()
        is_present = state == present
    end function

    function sluice_register(name) result(component)
        character(len=*), intent(in) :: name
        integer(sluice_component) :: component
        procedure(component_function), pointer :: f

        component = 0
        if (state == absent) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%component, f)
        component = f(name, len_trim(name, c_size_t))
    end function

    function sluice_begin(component, name) result(activity)
        integer(sluice_component), intent(in) :: component
        character(len=*), intent(in) :: name
        integer(sluice_activity) :: activity
        procedure(begin_function), pointer :: f

        activity = 0
        if (state == absent) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%begin, f)
        activity = f(component, name, len_trim(name, c_size_t))
    end function

    subroutine sluice_text(activity, key, text)
        integer(sluice_activity), intent(in) :: activity
        character(len=*), intent(in) :: key, text
        procedure(text_function), pointer :: f

        if (activity == 0) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%text, f)
        call f(activity, key, len_trim(key, c_size_t), text, len_trim(text, c_size_t))
    end subroutine

    subroutine number_long(activity, key, number)
        integer(sluice_activity), intent(in) :: activity
        character(len=*), intent(in) :: key
        integer(c_int64_t), intent(in) :: number
        procedure(number_function), pointer :: f

        if (activity == 0) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%number, f)
        call f(activity, key, len_trim(key, c_size_t), number)
    end subroutine

    subroutine number_default(activity, key, number)
        integer(sluice_activity), intent(in) :: activity
        character(len=*), intent(in) :: key
        integer(c_int32_t), intent(in) :: number

        if (activity /= 0) call number_long(activity, key, int(number, c_int64_t))
    end subroutine

    subroutine step_long(activity, step)
        integer(sluice_activity), intent(in) :: activity
        integer(c_int64_t), intent(in) :: step
        procedure(value_function), pointer :: f

        if (activity == 0) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%step, f)
        call f(activity, step)
    end subroutine

    subroutine step_default(activity, step)
        integer(sluice_activity), intent(in) :: activity
        integer(c_int32_t), intent(in) :: step

        if (activity /= 0) call step_long(activity, int(step, c_int64_t))
    end subroutine

    subroutine bytes_long(activity, bytes)
        integer(sluice_activity), intent(in) :: activity
        integer(c_int64_t), intent(in) :: bytes
        procedure(value_function), pointer :: f

        if (activity == 0) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%data, f)
        call f(activity, bytes)
    end subroutine

    subroutine bytes_default(activity, bytes)
        integer(sluice_activity), intent(in) :: activity
        integer(c_int32_t), intent(in) :: bytes

        if (activity /= 0) call bytes_long(activity, int(bytes, c_int64_t))
    end subroutine

    subroutine sluice_link(activity, cause)
        integer(sluice_activity), intent(in) :: activity, cause
        procedure(value_function), pointer :: f

        if (activity == 0 .or. cause == 0) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%link, f)
        call f(activity, cause)
    end subroutine

    subroutine sluice_fail(activity, error)
        integer(sluice_activity), intent(in) :: activity
        integer(c_int32_t), intent(in) :: error
        procedure(end_function), pointer :: f

        if (activity == 0) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%end, f)
        call f(activity, error)
    end subroutine

    subroutine sluice_end(activity)
        integer(sluice_activity), intent(in) :: activity

        if (activity /= 0) call sluice_fail(activity, 0_c_int32_t)
    end subroutine

    subroutine sluice_phase(name)
        character(len=*), intent(in) :: name
        procedure(phase_function), pointer :: f

        if (state == absent) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%phase, f)
        call f(name, len_trim(name, c_size_t))
    end subroutine

    subroutine copy_target(from, to)
        type(c_target), intent(in) :: from
        type(sluice_target_type), intent(inout) :: to
        integer :: i

        to%name = ''
        do i = 1, sluice_name_bytes
            if (from%name(i) == c_null_char) exit
            to%name(i:i) = from%name(i)
        end do
        to%busy = from%busy
        to%share = from%share
        to%slowdown = from%slowdown
        to%age_s = from%age_s
    end subroutine

    ! .false.: no opinion; the answer is unchanged.
    function sluice_target(name, answer) result(is_known)
        character(len=*), intent(in) :: name
        type(sluice_target_type), intent(inout) :: answer
        logical :: is_known
        procedure(target_function), pointer :: f
        type(c_target) :: known

        is_known = .false.
        if (state == absent) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%target, f)
        is_known = f(name, len_trim(name, c_size_t), known) /= 0
        if (is_known) call copy_target(known, answer)
    end function

    ! Targets by number, from 1 on.
    function sluice_target_at(number, answer) result(is_known)
        integer, intent(in) :: number
        type(sluice_target_type), intent(inout) :: answer
        logical :: is_known
        procedure(target_at_function), pointer :: f
        type(c_target) :: known

        is_known = .false.
        if (state == absent) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%target_at, f)
        is_known = f(int(number - 1, c_int32_t), known) /= 0
        if (is_known) call copy_target(known, answer)
    end function

    ! How many of these bytes a step should write now; all of them without a forecast.
    function sluice_advise(bytes) result(advised)
        integer(c_int64_t), intent(in) :: bytes
        integer(c_int64_t) :: advised
        type(sluice_target_type) :: answer
        real(c_double) :: speed, slower
        integer :: number, count

        speed = 0
        count = 0
        number = 1
        do while (sluice_target_at(number, answer))
            slower = 0
            if (answer%busy >= 0 .and. answer%slowdown > 1) slower = answer%busy * (answer%slowdown - 1)
            if (answer%share > 0 .or. answer%share < 0) then
                speed = speed + 1 / (1 + slower)
                count = count + 1
            end if
            number = number + 1
        end do
        advised = bytes
        if (bytes > 0 .and. speed < count) advised = int(real(bytes, c_double) * (speed / count), c_int64_t)
    end function

    ! The value is padded with blanks. .false.: no opinion; the value is unchanged.
    function sluice_best(parameter, file, value) result(is_known)
        character(len=*), intent(in) :: parameter, file
        character(len=*), intent(inout) :: value
        logical :: is_known
        procedure(best_function), pointer :: f
        character(len=len(value) + 1) :: text
        integer :: n

        is_known = .false.
        if (state == absent) return
        if (.not. sluice_is_present()) return
        call c_f_procpointer(found%best, f)
        text = ''
        is_known = f(parameter, len_trim(parameter, c_size_t), file, len_trim(file, c_size_t), text, &
                 len(text, c_size_t)) /= 0
        if (.not. is_known) return
        n = index(text, c_null_char) - 1
        value = text(1:max(n, 0))
    end function
end module
