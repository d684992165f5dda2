package proc

// This file lists processes through sysctl(3). Orphans go to launchd, so only
// what still descends from the command, or is in its process group, is found.

import "golang.org/x/sys/unix"

func processes() ([]process, error) {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	list := make([]process, 0, len(table))
	for i := range table {
		list = append(list, fromTable(&table[i]))
	}
	return list, nil
}

func fromTable(k *unix.KinfoProc) process {
	t := k.Proc.P_starttime
	return process{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid),
		start: uint64(t.Sec)*1e6 + uint64(t.Usec),
		dead:  k.Proc.P_stat == stateZombie, stopped: k.Proc.P_stat == stateStopped,
	}
}

// nowInTicks is the present in the unit of process.start.
func nowInTicks() uint64 {
	var t unix.Timeval
	if unix.Gettimeofday(&t) != nil {
		return 0
	}
	return uint64(t.Sec)*1e6 + uint64(t.Usec)
}
