//go:build windows

// A command for the tests of the Windows build. It does what its words say, one
// after the other:
//
//	args WORD...      prints the words that follow, quoted
//	cat               copies standard input to standard output
//	console WORD...   runs a command on a console of its own, for whose processes
//	                  a byte on standard input is Ctrl-C; ends as the command does
//	env NAME          prints a variable
//	exit CODE         ends with a code of 32 bits
//	hold ADDRESS      connects, and sends back what comes, for ever
//	out TEXT          prints a text; err TEXT does on standard error
//	parent WORD...    runs a command and prints its code
//	spawn WORD WORD   runs itself with two words, and does not wait for it
//	trap              ignores Ctrl-C and Ctrl-Break from now on
//	yes               prints lines, and does not check whether its output is read
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

var kernel = syscall.NewLazyDLL("kernel32.dll")

func main() {
	for words := os.Args[1:]; len(words) > 0; {
		n := 2
		switch words[0] {
		case "args":
			fmt.Printf("%q\n", words[1:])
			n = len(words)
		case "cat":
			_, err := io.Copy(os.Stdout, os.Stdin)
			check(err)
			n = 1
		case "console":
			console(words[1:])
		case "env":
			fmt.Println(os.Getenv(words[1]))
		case "exit":
			code, err := strconv.ParseUint(words[1], 0, 32)
			check(err)
			syscall.ExitProcess(uint32(code))
		case "hold":
			conn, err := net.Dial("tcp", words[1])
			check(err)
			_, _ = io.Copy(conn, conn)
			select {}
		case "out":
			fmt.Print(words[1])
		case "err":
			fmt.Fprint(os.Stderr, words[1])
		case "spawn":
			self, err := os.Executable()
			check(err)
			check(exec.Command(self, words[1:3]...).Start())
			n = 3
		case "parent":
			cmd := exec.Command(words[1], words[2:]...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			_ = cmd.Run()
			fmt.Println(uint32(cmd.ProcessState.ExitCode()))
			n = len(words)
		case "yes":
			for {
				fmt.Println("yes")
			}
		case "trap":
			signal.Ignore(os.Interrupt)
			n = 1
		default:
			check(fmt.Errorf("unknown word %q", words[0]))
		}
		words = words[n:]
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
		os.Exit(99)
	}
}

func console(command []string) {
	signal.Notify(make(chan os.Signal, 8)) // it gets the event as well, and lives on
	_, _, _ = kernel.NewProc("FreeConsole").Call()
	call("AllocConsole")
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	check(cmd.Start())
	go func() {
		const ctrlC, everybody = 0, 0
		for byte := make([]byte, 1); ; {
			if _, err := os.Stdin.Read(byte); err != nil {
				return
			}
			call("GenerateConsoleCtrlEvent", ctrlC, everybody)
		}
	}()
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

func call(name string, args ...uintptr) {
	if ok, _, err := kernel.NewProc(name).Call(args...); ok == 0 {
		check(fmt.Errorf("%s: %w", name, err))
	}
}
