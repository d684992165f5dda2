package cli

// This file is the one grammar: every flag with its short form, unit, default
// and group, once. Help, man page, completions, environment variables and the
// reader of the command line are driven by this struct. All values are text
// here; resolve.go gives them their meaning.

import (
	"reflect"
	"strings"

	"github.com/retrysh/retry/cli/manual"
)

// grammar holds the flags as they were given, defaults included. A string is a
// flag with a value, a bool one without, a slice one that may be repeated.
//
// Tags: group is the section of the contract, placeholder the unit (D is a
// duration), env:"-" marks what asks for another mode or belongs to one and so
// has no variable, nested:"-" what a variable cannot say inside another retry,
// since it speaks of the outer run (SPEC section 1), values are the words that
// completion offers. Where resolve asks for one of them (oneOf), there are no
// others. The reader has what it needs of it in flags.go: go test ./cli -run
// TestFlagTable -update writes that.
type grammar struct {
	Attempts string `short:"n" default:"5" placeholder:"N" group:"loop" help:"Runs of the command, the first included; 0 is unlimited, 1 never retries."`

	Consecutive  string `default:"1" placeholder:"N" group:"loop" help:"Ask for N successful attempts in a row. A success before that is followed by exactly --base, and a failure starts the count again."`
	UntilFailure bool   `group:"loop" help:"Turn the loop round to hunt a flaky command: run until an attempt fails, and end as it did. When all attempts succeed, end with 0."`
	FlakyExit    string `default:"0" placeholder:"CODE" group:"loop" help:"The exit code of a run that succeeded after at least one failed attempt."`
	Shell        string `short:"c" env:"-" placeholder:"STRING" group:"loop" help:"Run the shell command STRING (/bin/sh -c, on Windows cmd /c) in place of COMMAND; the words after the flags are its arguments."`

	Backoff      string `default:"exponential" placeholder:"CURVE" group:"wait" help:"How delays grow: exponential (base x factor^(n-1)), linear (base x n), constant, or fibonacci." values:"exponential linear constant fibonacci"`
	Base         string `default:"1s" placeholder:"D" group:"wait" help:"The first delay. While waiting for targets it is 100ms unless given."`
	Cap          string `default:"30s" placeholder:"D" group:"wait" help:"The longest delay. Unless given, it is never below --base, --min-delay or one of --delays; while waiting for targets it is 1s."`
	Factor       string `default:"2" placeholder:"F" group:"wait" help:"What exponential delays are multiplied by; at least 1."`
	Jitter       string `default:"full" placeholder:"KIND" group:"wait" help:"How delays are spread: full (0 to d), equal (d/2 to d), decorrelated (base to 3 x the wait before), none, or a percentage such as 25% around d. With --delays the default is none." values:"full equal decorrelated none 25%"`
	MinDelay     string `default:"0" placeholder:"D" group:"wait" help:"A floor under the jittered wait."`
	Delays       string `placeholder:"D,D,..." group:"wait" help:"The delays one by one, the last repeated; replaces --backoff, --base and --factor."`
	InitialDelay string `default:"0" placeholder:"D" group:"wait" help:"A wait before attempt 1."`
	Splay        string `default:"0" placeholder:"D" group:"wait" help:"Up to this much more before attempt 1, at random."`
	ResetAfter   string `default:"0" placeholder:"D" group:"wait" help:"An attempt that ran this long before it failed starts the schedule again; 0 never does."`
	Seed         string `placeholder:"N" group:"wait" help:"Makes every random draw repeatable."`

	Timeout     string `short:"t" default:"0" placeholder:"D" group:"limits" help:"Limits one attempt; 0 is no limit. Its whole process tree is ended."`
	IdleTimeout string `default:"0" placeholder:"D" group:"limits" help:"Limits how long an attempt may write nothing to standard output or standard error; 0 is no limit. It ends like one that ran into --timeout."`
	Deadline    string `default:"0" placeholder:"D" group:"limits" help:"Limits everything, waits included; 0 is no limit."`
	KillAfter   string `short:"k" default:"5s" placeholder:"D" group:"limits" help:"How long what is being ended may live on before it gets KILL."`
	Signal      string `short:"s" default:"TERM" placeholder:"SIGNAL" group:"limits" help:"What ends an attempt that has reached a limit." values:"TERM INT HUP QUIT KILL USR1 USR2"`

	SuccessOnExit []string `sep:"none" placeholder:"EXITS" group:"decide" help:"These results are successes (default 0)." values:"timeout signal any"`
	UntilStdout   []string `sep:"none" placeholder:"REGEX" group:"decide" help:"Success needs a line on standard output that matches."`
	UntilStderr   []string `sep:"none" placeholder:"REGEX" group:"decide" help:"The same on standard error."`
	FailOnStdout  []string `sep:"none" placeholder:"REGEX" group:"decide" help:"A matching line on standard output is a failure, whatever the exit code."`
	FailOnStderr  []string `sep:"none" placeholder:"REGEX" group:"decide" help:"The same on standard error."`
	StopOnExit    []string `sep:"none" placeholder:"EXITS" group:"decide" help:"These results are not retried." values:"timeout signal any"`
	StopOnStdout  []string `sep:"none" placeholder:"REGEX" group:"decide" help:"A failure with a matching line on standard output is not retried."`
	StopOnStderr  []string `sep:"none" placeholder:"REGEX" group:"decide" help:"The same on standard error."`
	OnExit        []string `sep:"none" placeholder:"EXITS" group:"decide" help:"These results are retried. With any --on-* flag nothing else is, but for timeouts." values:"timeout signal any"`
	OnStdout      []string `sep:"none" placeholder:"REGEX" group:"decide" help:"A failure with a matching line on standard output is retried."`
	OnStderr      []string `sep:"none" placeholder:"REGEX" group:"decide" help:"The same on standard error."`

	KillLeftovers bool   `group:"streams" help:"End what a failed attempt left running before the next one starts, and after the last."`
	Stdin         string `default:"inherit" placeholder:"MODE" group:"streams" help:"inherit leaves standard input to the command, replay gives every attempt the same input from its first byte, null gives none." values:"inherit replay null"`
	Stdout        string `default:"stream" placeholder:"MODE" group:"streams" help:"stream passes standard output on as it comes, hold keeps it until an attempt has succeeded; that of failed attempts goes to standard error." values:"stream hold"`
	Stderr        string `default:"stream" placeholder:"MODE" group:"streams" help:"The same for standard error." values:"stream hold"`

	IdempotencyKey string `nested:"-" placeholder:"KEY" group:"env" help:"What every attempt sees as RETRY_IDEMPOTENCY_KEY (default: the run's random id)."`
	Nested         string `default:"warn" placeholder:"MODE" group:"env" help:"Inside another retry: warn says that attempts multiply, once runs the command a single time, allow says nothing." values:"warn once allow"`

	Classify   string   `default:"any" placeholder:"MODE" group:"classify" help:"What is retried where no rule above decides: any failure, smart (unless it is known to be permanent), or strict (only what is known to be transient)." values:"any smart strict"`
	Rules      []string `sep:"none" placeholder:"FILE" group:"classify" help:"More rules for smart and strict, before the built-in ones. Without --classify it is smart then."`
	RetryAfter string   `placeholder:"HOW" group:"classify" help:"Wait as long as the output asks for: auto (Retry-After and its like), off, or a REGEX whose group is the wait. Default: auto where output is captured anyway, else off." values:"auto off"`
	MaxHint    string   `default:"5m" placeholder:"D" group:"classify" help:"Give up when the output asks for more."`
	Explain    bool     `env:"-" group:"classify" help:"Run nothing; judge the result given by the next four and say why."`
	Exit       string   `env:"-" placeholder:"CODE" group:"classify" help:"The exit code (0 to 255) or signal (SIGKILL) to judge."`
	StdoutFile string   `env:"-" placeholder:"FILE" group:"classify" help:"What the command wrote to standard output."`
	StderrFile string   `env:"-" placeholder:"FILE" group:"classify" help:"What the command wrote to standard error."`
	At         string   `env:"-" placeholder:"SECONDS" group:"classify" help:"The Unix time against which dates in the output are read (default: now)."`

	WaitFor     []string `nested:"-" sep:"none" placeholder:"TARGET" group:"waitfor" help:"Wait until the target is ready before attempt 1: tcp://host:port, http(s)://..., http+unix:///path.sock:/..., unix:///path, file:///path, dns://name, postgres://, redis:// or mysql://host:port, exec:shell command." values:"tcp:// http:// https:// http+unix:/// unix:/// file:/// dns:// postgres:// redis:// mysql:// exec:"`
	WaitGone    []string `nested:"-" sep:"none" placeholder:"TARGET" group:"waitfor" help:"Wait until the target is no longer ready." values:"tcp:// http:// https:// http+unix:/// unix:/// file:/// dns:// postgres:// redis:// mysql:// exec:"`
	WaitTimeout string   `default:"60s" placeholder:"D" group:"waitfor" help:"Limits the wait for all targets, and each one for --retry-when; 0 is for ever."`
	Exec        bool     `env:"-" group:"waitfor" help:"Then become the command instead of running it; without targets, at once."`

	BeforeRetry  []string `nested:"-" sep:"none" placeholder:"SH" group:"around" help:"Run this shell command after the wait, before each attempt but the first. Exit 75 ends the run; any other failure is a warning. In all of these, \"$@\" is the command."`
	AfterSuccess string   `nested:"-" placeholder:"SH" group:"around" help:"Run this when the run has succeeded."`
	AfterGiveUp  string   `nested:"-" placeholder:"SH" group:"around" help:"Run this when the run has failed and was not cancelled."`
	RetryWith    string   `nested:"-" placeholder:"SH" group:"around" help:"From attempt 2 on run this in place of the command, as in '\"$@\" --resume'."`
	Fallback     string   `nested:"-" placeholder:"SH" group:"around" help:"Run this instead of giving up: its output and its exit code are those of the run."`
	RetryWhen    string   `nested:"-" placeholder:"TARGET" group:"around" help:"After the wait, wait on until this target is ready, without spending an attempt; targets are those of --wait-for." values:"tcp:// http:// https:// http+unix:/// unix:/// file:/// dns:// postgres:// redis:// mysql:// exec:"`
	HookTimeout  string   `default:"60s" nested:"-" placeholder:"D" group:"around" help:"Limits each hook and the fallback; 0 is no limit."`

	Rehearse       string `nested:"-" placeholder:"STEPS" group:"around" help:"Pretend the results of the attempts instead of running the command: 75,75,0 or 3*75,run or 30%**75; a step is [P%][N*]RESULT[:D], RESULT a code, a signal, timeout or run, ** for ever."`
	RehearseStdout string `nested:"-" placeholder:"FILE" group:"around" help:"What a pretended attempt writes to standard output."`
	RehearseStderr string `nested:"-" placeholder:"FILE" group:"around" help:"The same for standard error."`

	Policy      string   `nested:"-" placeholder:"NAME" group:"policies" help:"Take the settings of this policy that nothing else sets; ci, deploy, download, database, wait and careful are built in." values:"ci deploy download database wait careful"`
	Config      []string `sep:"none" placeholder:"FILE" group:"policies" help:"Where policies are. Default: $XDG_CONFIG_HOME/retry/policies, then /etc/retry/policies. RETRY_CONFIG is a list as PATH is; empty is none."`
	PrintPolicy bool     `env:"-" group:"policies" help:"Run nothing; print all settings in force as a policy, and where each comes from."`

	Hedge    string   `nested:"-" placeholder:"D" group:"around" help:"Start a second copy of an attempt that has not ended after D, beside the first: the first success wins, the others are ended. Only for what may run twice at the same time. Standard input must be replay or null."`
	HedgeMax string   `nested:"-" default:"1" placeholder:"N" group:"around" help:"How many copies may start beside the first, D apart."`
	Rotate   []string `nested:"-" sep:"none" placeholder:"NAME=A,B,..." group:"around" help:"{NAME} in the command's words, and RETRY_USE_NAME, is A in attempt 1, B in the next; what failed comes again when all have failed. NAME@=A,B begins at random."`

	Key           string `nested:"-" placeholder:"NAME" group:"guards" help:"What the guards protect: a registry, a database, an environment. Runs with the same key share their guards' state."`
	Breaker       string `nested:"-" placeholder:"RATE|N" group:"guards" help:"Let nothing through for a while when this share of all attempts on the key failed, or N in a row: 50%,min=10,window=60s,open=30s,probes=1."`
	Budget        string `nested:"-" placeholder:"RATE" group:"guards" help:"Retry only while retries are at most this share of the runs on the key: 10%,min=3,window=60s,reserve=0%."`
	Tokens        string `nested:"-" placeholder:"N" group:"guards" help:"Retry only while a bucket of N tokens can pay for it; then come cost=5, timeout-cost=10, success=1, refill=0/s and reserve=0%."`
	MaxConcurrent string `nested:"-" placeholder:"N" group:"guards" help:"At most N attempts on the key at a time: 4,wait=0s,of=attempts; of=retries or of=runs counts those."`
	Adaptive      bool   `nested:"-" group:"guards" help:"Make as many attempts as the last 100 attempts on the key deserve."`
	Priority      string `default:"normal" nested:"-" placeholder:"WHO" group:"guards" help:"How much of a budget or bucket this run sees: high all of it, normal all but what reserve= keeps, low half of that." values:"low normal high"`
	Store         string `placeholder:"URL" group:"guards" help:"Where the guards' state is: file:DIR for all processes of a host (default: $XDG_STATE_HOME/retry, else ~/.local/state/retry), or redis://[user:password@]host:port[/db], rediss://... or redis+unix:///path for all hosts."`
	StoreTimeout  string `default:"250ms" placeholder:"D" group:"guards" help:"Limits what the store does at one point."`
	StoreFail     string `placeholder:"HOW" group:"guards" help:"When the store cannot be used: open warns and goes on with the host's own files, closed refuses. Default: closed with --max-concurrent, else open." values:"open closed"`

	Quiet     bool   `short:"q" group:"output" help:"Say nothing but the program's own errors."`
	Verbose   bool   `short:"v" group:"output" help:"Say when each attempt starts, and each wait before and after jitter and as slept."`
	Color     string `default:"auto" placeholder:"WHEN" group:"output" help:"auto (a terminal, and NO_COLOR is not set), always, or never." values:"auto always never"`
	LogFormat string `default:"text" placeholder:"FORMAT" group:"output" help:"text, json (one event a line), github or gitlab (folds and warnings for the log of a CI job), or auto (that of the job it runs in, else text)." values:"text json github gitlab auto"`
	LogFile   string `placeholder:"FILE" group:"output" help:"Append events to this file, as JSON unless --log-format says otherwise; the text for a person stays on standard error."`

	Simulate    string `env:"-" placeholder:"WHAT" group:"simulate" help:"Run nothing; follow many runs of this policy at once: outage (a server that goes away and comes back) or contention (clients that race for one row)." values:"outage contention"`
	Clients     string `default:"1000" env:"-" placeholder:"N" group:"simulate" help:"How many runs there are; for contention this number alone, in place of 10 to 190."`
	Capacity    string `default:"100" env:"-" placeholder:"R" group:"simulate" help:"How many calls a second the server takes."`
	Outage      string `default:"30s" env:"-" placeholder:"D" group:"simulate" help:"How long it is away."`
	AttemptTime string `default:"50ms" env:"-" placeholder:"D" group:"simulate" help:"How long a call takes that waits for nothing."`
	Queue       string `default:"1s" env:"-" placeholder:"D" group:"simulate" help:"A call that would wait longer than this to be served is rejected."`
	Compare     string `env:"-" placeholder:"WHAT" group:"simulate" help:"Put several side by side: jitter (each kind), backoff (each curve), or NAME,NAME (what is given and each of these policies)." values:"jitter backoff"`
	Trials      string `default:"100" env:"-" placeholder:"N" group:"simulate" help:"How often each race of contention is run; what is printed is the mean."`
	Svg         string `env:"-" placeholder:"FILE" group:"simulate" help:"Draw the outage into this file, for a browser."`

	Plan       bool   `env:"-" group:"modes" help:"Run nothing; print the schedule of waits."`
	Man        bool   `env:"-" group:"modes" help:"Print the manual page, for man -l."`
	Completion string `env:"-" placeholder:"SHELL" group:"modes" help:"Print the completion script for bash, zsh, fish or powershell." values:"bash zsh fish powershell"`
	NoEnv      bool   `env:"-" group:"modes" help:"Ignore all RETRY_ variables of flags."`
	Help       bool   `short:"h" env:"-" group:"modes" help:"Print this help; -h prints one screen of it."`
	Version    bool   `short:"V" env:"-" group:"modes" help:"Print the version."`
}

// groups are the titles of the flag groups, in the order of the help.
var groups = []manual.Group{
	{Key: "loop", Title: "Attempts"},
	{Key: "wait", Title: "The wait between attempts"},
	{Key: "limits", Title: "Time limits"},
	{Key: "decide", Title: "Success, retry or stop (the first that applies decides)"},
	{Key: "streams", Title: "Processes and streams"},
	{Key: "env", Title: "What the command sees"},
	{Key: "classify", Title: "Knowing what is worth retrying"},
	{Key: "waitfor", Title: "Waiting, then running"},
	{Key: "around", Title: "Around the attempts"},
	{Key: "policies", Title: "Policies: settings by name"},
	{Key: "guards", Title: "Guards shared by processes and machines"},
	{Key: "output", Title: "What it says"},
	{Key: "simulate", Title: "Many runs at once, without running them"},
	{Key: "modes", Title: "Other modes"},
}

// pages returns what help, manual page and completions are made from.
func pages() *manual.Pages {
	day, _, _ := strings.Cut(originOf().date, "T")
	p := &manual.Pages{Groups: groups, Date: day}
	for _, f := range flagTable() {
		tag := f.tag()
		p.Flags = append(p.Flags, manual.Flag{
			Name: f.name, Short: f.short, Default: f.preset, Repeats: f.kind == reflect.Slice,
			Value: tag.Get("placeholder"), Group: tag.Get("group"), Values: strings.Fields(tag.Get("values")), Help: tag.Get("help"),
		})
	}
	return p
}
