#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice print` on a trace of two ranks that write together through HDF5: chains of layers, collective calls, ranks.
# The trace is written by hand in the text format, so that every value is known.
. "$(dirname "$0")/libtest.sh"

{
	tr '|' '\t' <<'END'
#sluice-text|2
#clock|source=monotonic|num=1|den=1
#call|number=0|name=H5Dwrite|layer=HDF5|class=write|failure=negative|fields=RESULT SIZE NAME
#call|number=1|name=MPI_File_write_at_all|layer=MPI|class=write|failure=status|fields=RESULT SIZE SPAN COLLECTIVE
#call|number=2|name=pwrite64|layer=POSIX|class=write|failure=minus_errno|fields=RESULT SIZE
#process|process=0|parent=-1|rank=-1|ranks=0|program=app
#process|process=1|parent=-1|rank=-1|ranks=0|program=app
#file|id=1|path=/data/out.h5
#file|id=2|path=/particles/x
#host|host=node1|method=reference
#host|host=node2|method=collective calls|offset_ns=-7|error_ns=40
END
	# RESULT is bit 0 of present, SIZE 4, SPAN 8, COLLECTIVE 10 and NAME 13.
	tr -s ' ' '\t' <<'END'
start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size offset flags mode span variable collective name
1000 5 0 1 0 HDF5 H5Dwrite              100  0 1 0 8209 - - - 100 - - -   - -     - 2
1100 5 1 1 0 HDF5 H5Dwrite              100  0 1 0 8209 - - - 100 - - -   - -     - 2
2000 5 0 2 1 MPI MPI_File_write_at_all  100  0 1 0 1297 - - - 100 - - - 400 - 24301 0
2100 5 1 2 1 MPI MPI_File_write_at_all  100  0 1 0 1297 - - - 100 - - - 400 - 24301 0
3000 5 0 3 2 POSIX pwrite64             200  0 1 0   17 - - - 200 - - -   - -     - 0
9000 5 1 3 0 HDF5 H5Dwrite               -1 -1 1 0 8193 - - -   - - - -   - -     - 2
END
	# The ranks are known only after MPI_Init.
	tr '|' '\t' <<'END'
#process|process=0|rank=1|ranks=2|program=app
#process|process=1|rank=0|ranks=2|program=app
#end|duration_ns=10000|complete=1
END
} >two.txt

check_rc 0 "$sluice" print two.txt
check_eq "$(cat err)" ""
cat >expected <<'END'
0.0000010 ID1 HDF5 H5Dwrite(HDF5/descriptor/name="/particles/x", HDF5/quantity/BytesToWrite=100, HDF5/quantity/BytesWritten=100) = 0
0.0000011 ID1:0.1 HDF5 H5Dwrite(HDF5/descriptor/name="/particles/x", HDF5/quantity/BytesToWrite=100, HDF5/quantity/BytesWritten=100) = 0
0.0000020 ID2 MPI MPI_File_write_at_all(MPI/quantity/BytesToWrite=100, MPI/quantity/BytesWritten=100, MPI/file/span=400, MPI/group/collective=0000000000005eed) = 0 ID1
0.0000021 ID1:0.2 MPI MPI_File_write_at_all(MPI/quantity/BytesToWrite=100, MPI/quantity/BytesWritten=100, MPI/file/span=400, MPI/group/collective=0000000000005eed) = 0 ID1:0.1
0.0000030 ID3 POSIX pwrite64(POSIX/quantity/BytesToWrite=200, POSIX/quantity/BytesWritten=200) = 0 ID2
0.0000090 ID1:0.3 HDF5 H5Dwrite(HDF5/descriptor/name="/particles/x") = -1
END
diff expected out || fail "print differs from the expected output"
for form in container sqlite text; do
	check_rc 0 "$sluice" trace convert two.txt "two.$form" --format $form
	check_rc 0 "$sluice" print "two.$form"
	diff expected out || fail "print of the $form differs"
done

# The chain, and the calls that belong to the collective call on both ranks.
check_rc 0 "$sluice" print --tree --rank 1 two.container
cat >expected <<'END'
0.0000010    ID1            HDF5          H5Dwrite(HDF5/descriptor/name="/particles/x", HDF5/quantity/BytesToWrite=100, HDF5/quantity/BytesWritten=100) = 0
0.0000020    ID2            MPI             MPI_File_write_at_all(MPI/quantity/BytesToWrite=100, MPI/quantity/BytesWritten=100, MPI/file/span=400, MPI/group/collective=0000000000005eed) = 0 ID1
0.0000030    ID3            POSIX             pwrite64(POSIX/quantity/BytesToWrite=200, POSIX/quantity/BytesWritten=200) = 0 ID2
END
diff expected out || fail "the tree differs from the expected output"
for form in container sqlite text; do
	check_rc 0 "$sluice" print --collective 5EED "two.$form"
	check_eq "$(awk '{ print $2 }' out | xargs)" "ID2 ID1:0.2 ID3" "calls of the collective call in $form"
	check_rc 0 "$sluice" print --collective 0000000000005eed --layer POSIX "two.$form"
	check_eq "$(awk '{ print $2 }' out | xargs)" "ID3" "write of the collective call in $form"
	check_rc 0 "$sluice" print --collective 5eed --rank 0 "two.$form"
	check_eq "$(awk '{ print $2 }' out | xargs)" "ID1:0.2" "rank 0 in $form"
done
check_rc 0 "$sluice" print --collective 1 two.container
check_eq "$(cat out)" "" "a collective call that is not there"
for wrong in 0 xyz 12g 11112222333344445 ""; do
	check_rc 2 "$sluice" print --collective "$wrong" two.container
	check_has "$(cat err)" "--collective"
done

# Ranks and handles of libraries, for programs.
check_rc 0 "$sluice" print --json two.sqlite
check_json out sluice.print/1
check_eq "$(json_get out '["activities"][2]["rank"]')" 1
check_eq "$(json_get out '["activities"][2]["collective"]')" 0000000000005eed
check_eq "$(json_get out '["activities"][2]["span"]')" 400
check_eq "$(json_get out '["activities"][0]["name"]')" /particles/x
check_eq "$(json_get out '["activities"][5]["error"]')" -1
check_rc 0 "$sluice" print --csv two.container
check_eq "$(sed -n '4p' out)" \
	"2000,5,0,1,0,ID2,MPI,MPI_File_write_at_all,write,0,100,100,,,,,/data/out.h5,,ID1,,,400,,0000000000005eed,,"
