module github.com/retrysh/retry

go 1.26.0

// The program waits; it does not compute. The limits of its control group would
// be read from files that stay open, and few may be.
godebug containermaxprocs=0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/fatih/color v1.19.0
	github.com/mattn/go-runewidth v0.0.31
	github.com/rogpeppe/go-internal v1.16.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	mvdan.cc/sh/v3 v3.14.1
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	golang.org/x/tools v0.38.0 // indirect
)
