package store

// This file lets two users of a group share a store, one of whom attacks the other.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/lockedfile"
)

// memberVariable asks the test program to be a member of the group: it holds the store.
const memberVariable = "STORE_MEMBER"

func init() { beMember = member }

// member makes one request for a slot, and prints the answer.
func member(dir string) {
	syscall.Umask(0o077)
	f := NewFile(dir, "host")
	f.Warn = func(line string) { fmt.Println("warning:", line) }
	limit, err := time.ParseDuration(os.Getenv(limitVariable))
	if err != nil {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	a, lock, err := f.Do(ctx, "k", &guard.Guards{Slots: guard.Slots{N: 1}},
		&guard.Request{Op: guard.Admit, Attempt: 1, ID: 1, Slot: true})
	switch took := time.Since(begun); {
	case took > 2*time.Minute:
		fmt.Println("took", took)
	case err != nil:
		fmt.Println("error:", err)
	case lock == nil:
		fmt.Println("refused:", a.Refusal.Guard)
	default:
		fmt.Println("got the slot")
	}
	if os.Getenv("STORE_HOLD") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
	}
}

// limitVariable has the limit of a request, which is only reached if a lock is held for ever.
const limitVariable = "STORE_LIMIT"

const victim, attacker, team = 60001, 60002, 60100

// as is the test program as a user of the group.
func as(t *testing.T, program, dir string, uid uint32) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = []string{memberVariable + "=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{team}}}
	return cmd
}

// forAll is a directory that all users can enter, with a copy of the test program.
func forAll(t *testing.T) (base, program string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	base, err := os.MkdirTemp("", "members")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program = filepath.Join(base, "store.test")
	self := must(os.ReadFile("/proc/self/exe"))
	all(t, os.Chmod(base, 0o755), os.WriteFile(program, self, 0o755), os.Chmod(program, 0o755)) // umask 077
	return base, program
}

// sharedDir makes a directory of the group.
func sharedDir(t *testing.T, dir string) string {
	t.Helper()
	all(t, os.MkdirAll(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755))
	all(t, os.Chown(dir, 0, team), os.Chmod(dir, 0o770|os.ModeSetgid))
	return dir
}

func all(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestMembersOfAGroupShareALock(t *testing.T) {
	base, program := forAll(t)
	dir := sharedDir(t, filepath.Join(base, "shared"))
	holder := as(t, program, dir, attacker)
	holder.Env = append(holder.Env, "STORE_HOLD=1")
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil || holder.Start() != nil {
		t.Fatal(err)
	}
	line := make([]byte, 100)
	if n, _ := out.Read(line); string(line[:n]) != "got the slot\n" {
		t.Fatalf("%q", line[:n])
	}
	if said, _ := as(t, program, dir, victim).CombinedOutput(); string(said) != "refused: max-concurrent\n" {
		t.Errorf("the other user: %q", said)
	}
	_ = in.Close()
	_ = holder.Wait()
	if said, _ := as(t, program, dir, victim).CombinedOutput(); string(said) != "got the slot\n" {
		t.Errorf("when it is free: %q", said)
	}
	for path, want := range map[string]os.FileMode{"host": 0o770 | os.ModeSetgid | os.ModeDir, "host/k-*": 0o660} {
		for _, path := range must(filepath.Glob(filepath.Join(dir, path))) {
			info, err := os.Stat(path)
			if err != nil || info.Mode() != want || info.Sys().(*syscall.Stat_t).Gid != team {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
	}
	stranger := as(t, program, dir, victim)
	stranger.SysProcAttr.Credential.Groups = nil
	if said, _ := stranger.CombinedOutput(); !strings.Contains(string(said), "permission denied") {
		t.Errorf("a user outside of the group: %q", said)
	}
}

// TestAMemberCannotHarmAnother: whatever a member puts there, the run of another one writes
// nothing outside of the directory, follows no link, ends in time and says what it found.
func TestAMemberCannotHarmAnother(t *testing.T) {
	record := func(list []int64) []byte {
		out := make(bytesFile, recordSize)
		_ = (&record{list: list}).write(out, "")
		return out
	}
	far := guard.State{Used: guard.MaxID, Keep: guard.MaxID, Turns: guard.Turns{Free: guard.MaxID, Reserved: 1}}
	base, program := forAll(t)
	huge := binary.LittleEndian.AppendUint64(nil, 1<<63)
	for name, c := range map[string]struct {
		attack string // a shell script in the folder, with $r for the record and $o for a file outside
		file   []byte // or the content of the record
		says   string
		limit  string // of the request, if only a limit ends it
	}{
		"a link in place of the record": {attack: `rm $r; ln -s "$o" $r`, says: "is a symbolic link"},
		"a link in place of a slot":     {attack: `rm $r.slot0; ln -s "$o" $r.slot0`, says: "is a symbolic link"},
		"a link to nothing":             {attack: `rm $r; ln -s "$o.new" $r`, says: "is a symbolic link"},
		"a link in place of the copy":   {attack: `echo damaged >$r; ln -s "$o" $r.damaged`, says: "got the slot"},
		"a link in place of the folder": {attack: `cd ..; mv host old; ln -s ../outside host`,
			says: "is a symbolic link"},
		"a FIFO in place of the record": {attack: `rm $r; mkfifo -m 666 $r`, says: "is not a regular file"},
		"a FIFO in place of a slot": {attack: `rm $r.slot0; mkfifo -m 666 $r.slot0`,
			says: "is not a regular file"},
		"a directory as the record": {attack: `rm $r; mkdir $r`, says: "is a directory"},
		"a directory as a slot":     {attack: `rm $r.slot0; mkdir $r.slot0`, says: "is a directory"},
		"a directory as the copy":   {attack: `echo damaged >$r; mkdir $r.damaged`, says: "got the slot"},
		"a hard link":               {attack: `touch a; chmod 666 a; rm $r; ln a $r`, says: "hard link"},
		"a hard link as a slot": {attack: `touch a; chmod 666 a; rm $r.slot0; ln a $r.slot0`,
			says: "hard link"},
		"a record that may not be read":    {attack: `rm $r; touch $r; chmod 000 $r`, says: "permission denied"},
		"a record of a gigabyte":           {attack: `truncate -s 1G $r`, says: "got the slot"},
		"a record that is cut short":       {attack: `truncate -s 100 $r`, says: "got the slot"},
		"an empty record":                  {attack: `truncate -s 0 $r`, says: "got the slot"},
		"text":                             {file: []byte("not a record\n"), says: "cannot be read; it begins anew"},
		"a forged record of great numbers": {file: record(far.Append(nil)), says: "got the slot"},
		"a forged list":                    {file: record([]int64{3, 1, 1, 1, 1 << 62}), says: "cannot be read"},
		"a forged length": {file: append([]byte("retry g2"), bytes.Repeat(huge, 100)...),
			says: "cannot be read"},
		"a record that is locked for ever": {attack: `exec flock $r sh -c 'touch ../locked; exec sleep 600' ` +
			`>/dev/null 2>&1 & until [ -e ../locked ]; do sleep 0.01; done`, says: "another process holds its lock",
			limit: "300ms"},
		"ten thousand slots": {attack: `for i in $(seq 0 9999); do : >$r.slot$i; done; chmod 660 *`,
			says: "got the slot"},
		"the folder is gone":               {attack: `cd ..; rm -r host`, says: "got the slot"},
		"the folder may be written by all": {attack: `chmod 777 .`, says: "may be written by all users"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := sharedDir(t, filepath.Join(base, name, "shared"))
			outside := filepath.Join(base, name, "outside")
			secret := filepath.Join(outside, "file")
			all(t, os.Mkdir(outside, 0o777), os.Chmod(outside, 0o777), os.WriteFile(secret, []byte("mine"), 0o666),
				os.Chmod(secret, 0o666))
			if said, err := as(t, program, dir, attacker).CombinedOutput(); string(said) != "got the slot\n" {
				t.Fatalf("%q, %v", said, err)
			}
			path := filepath.Join(dir, "host", recordName("k"))
			script := fmt.Sprintf("cd '%s/host'; r=%s; o='%s'; %s", dir, recordName("k"), secret, c.attack)
			attack := as(t, "/bin/sh", dir, attacker)
			attack.Args = []string{"sh", "-c", script}
			attack.Env = append(attack.Env, "PATH="+os.Getenv("PATH"))
			attack.SysProcAttr.Setpgid = true
			if c.file != nil {
				if err := os.WriteFile(path, c.file, 0o660); err != nil {
					t.Fatal(err)
				}
			} else if said, err := attack.CombinedOutput(); err != nil {
				t.Fatalf("%s, %v", said, err)
			}
			defer func() { _ = syscall.Kill(-attack.Process.Pid, syscall.SIGKILL) }()
			if c.file != nil {
				attack.Process = &os.Process{Pid: 1 << 30}
			}
			attacked := as(t, program, dir, victim)
			attacked.Env = append(attacked.Env, limitVariable+"="+c.limit)
			said, err := attacked.CombinedOutput()
			if err != nil || !strings.Contains(string(said), c.says) {
				t.Errorf("%s, %v", said, err)
			}
			names := must(filepath.Glob(filepath.Join(outside, "*")))
			if text, err := os.ReadFile(secret); err != nil || string(text) != "mine" || len(names) != 1 {
				t.Errorf("outside: %q, %v, %q", text, err, names)
			}
		})
	}
}

// The rules of which directories are used, and by whom.
func TestWhoSharesADirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making directories of other users needs root")
	}
	for name, c := range map[string]struct {
		uid, gid int
		mode     os.FileMode
		shared   bool
		says     string
	}{
		"root's, of a group": {0, team, 0o770 | os.ModeSetgid, true, ""},
		"read by others":     {0, team, 0o775 | os.ModeSetgid, true, ""},
		"without the setgid bit": {0, team, 0o770, false,
			"without the setgid bit (mode 0770); for a group make it by: install -d -m 2770 -g GROUP "},
		"an inherited setgid bit": {0, team, 0o755 | os.ModeSetgid, false, ""},
		"private":                 {0, 0, 0o700, false, ""},
		"written by others": {0, team, 0o777 | os.ModeSetgid, false,
			"may be written by all users (mode 2777)"},
		"written by others, with sticky bit": {0, 0, 0o777 | os.ModeSticky, false,
			"may be written by all users (mode 1777)"},
		"of a third user": {victim, team, 0o770 | os.ModeSetgid, false, "belongs to user 60001"},
	} {
		dir := t.TempDir()
		if err := os.Chown(dir, c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		s, err := lockedfile.SharingOf(dir)
		if s.Group != c.shared || (err == nil) != (c.says == "") || err != nil &&
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}
