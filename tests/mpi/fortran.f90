! SPDX-License-Identifier: BSD-3-Clause
!
! MPI-IO from Fortran: the bindings of both MPIs call the library by names of their own, some of them PMPI_.
program fortran_io
	use mpi
	implicit none
	integer, parameter :: n = 256
	character(len=*), parameter :: path = 'fortran.dat'
	integer :: rank, ranks, f, request, count, code, i
	integer :: status(MPI_STATUS_SIZE)
	integer :: out(n), in(n)
	integer(kind=MPI_OFFSET_KIND) :: place, size

	call MPI_Init(code)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
	place = int(rank, MPI_OFFSET_KIND) * n * 4
	out = [(rank * 1000 + i, i = 1, n)]

	call MPI_File_open(MPI_COMM_WORLD, path, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, f, code)
	call must(code == MPI_SUCCESS, 'open')
	call MPI_File_write_at_all(f, place, out, n, MPI_INTEGER, status, code)
	call MPI_Get_count(status, MPI_INTEGER, count, code)
	call must(count == n, 'write_at_all')
	! With OMPIO the call may return before the aggregator has written the data.
	call MPI_Barrier(MPI_COMM_WORLD, code)
	call read_back('write_at_all')

	out = out + 1
	call MPI_File_iwrite_at(f, place, out, n, MPI_INTEGER, request, code)
	call must(code == MPI_SUCCESS, 'iwrite_at')
	call MPI_Wait(request, status, code)
	call read_back('iwrite_at')

	out = out + 1
	call MPI_File_set_view(f, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
	call MPI_File_write(f, out, n, MPI_INTEGER, status, code)
	call must(code == MPI_SUCCESS, 'write')
	call MPI_File_set_view(f, 0_MPI_OFFSET_KIND, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, code)
	call read_back('write')

	call MPI_Barrier(MPI_COMM_WORLD, code)
	call MPI_File_get_size(f, size, code)
	call must(size == int(ranks, MPI_OFFSET_KIND) * n * 4, 'get_size')
	call MPI_File_close(f, code)
	call MPI_Barrier(MPI_COMM_WORLD, code)
	if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, code)
	call MPI_Finalize(code)

contains

	subroutine must(good, what)
		logical, intent(in) :: good
		character(len=*), intent(in) :: what
		integer :: ignored

		if (good) return
		write (0, *) 'fortran.f90: ', what, ' failed on rank ', rank
		call MPI_Abort(MPI_COMM_WORLD, 99, ignored)
	end subroutine must

	subroutine read_back(what)
		character(len=*), intent(in) :: what

		in = 0
		call MPI_File_read_at(f, place, in, n, MPI_INTEGER, status, code)
		call must(all(in == out), what)
	end subroutine read_back
end program fortran_io
