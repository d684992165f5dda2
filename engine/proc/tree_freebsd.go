//go:build amd64 || arm64

package proc

// This file lists processes through sysctl(3). Orphans come back to this
// program, as on Linux (becomeSubreaper).

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// kinfoSize is the size of struct kinfo_proc where pointers and long have 64
// bits (KINFO_PROC_SIZE of machine/proc.h), and what its first field has to say.
// The size never changes, since programs would have to be compiled anew, and
// new fields take the place of spare ones (sys/user.h).
const kinfoSize = 1088

// Offsets in struct kinfo_proc of sys/user.h: two int and eight pointers come
// before ki_pid.
const (
	kinfoPid   = 72
	kinfoPpid  = 76
	kinfoPgid  = 80
	kinfoSid   = 88
	kinfoStart = 336 // struct timeval: two times 64 bits
	kinfoStat  = 388 // char
)

// processes returns the process table. It may have grown after the kernel was
// asked how large it is, with room to spare, and is then asked for again.
func processes() ([]process, error) {
	var table []byte
	var err error
	for range 4 {
		// Unlike kern.proc.all this has no line for each thread (kern_proc.c).
		if table, err = unix.SysctlRaw("kern.proc.proc"); err != unix.ENOMEM {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return fromTable(table)
}

func fromTable(table []byte) ([]process, error) {
	booted, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return nil, err
	}
	// The kernel adds it to what it keeps, the time since the system started;
	// it changes whenever the clock is set (kern_proc.c, fill_kinfo_proc_only).
	boot := uint64(booted.Sec)*1e6 + uint64(booted.Usec)
	number := binary.LittleEndian.Uint32
	long := binary.LittleEndian.Uint64
	var list []process
	for ; len(table) >= kinfoSize; table = table[kinfoSize:] {
		if size := number(table); size != kinfoSize {
			return nil, fmt.Errorf("the kernel's process table has lines of %d bytes, not %d", size, kinfoSize)
		}
		list = append(list, process{
			pid: int(number(table[kinfoPid:])), ppid: int(number(table[kinfoPpid:])),
			pgid: int(number(table[kinfoPgid:])), sid: int(number(table[kinfoSid:])),
			start: long(table[kinfoStart:])*1e6 + long(table[kinfoStart+8:]) - boot,
			dead:  table[kinfoStat] == stateZombie, stopped: table[kinfoStat] == stateStopped,
		})
	}
	return list, nil
}

// nowInTicks is the present in the unit of process.start.
func nowInTicks() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano()) / 1000
}
