// Package registry shows the runs that are alive to other processes: a directory
// with one record for each (docs/status.md).
//
// A run writes its own record and no other. A reader reads all, and asks the kernel
// which process holds a record's lock. The name of a file says whether it is a record,
// its lock whether its program lives, its content only what is shown. Nothing here
// sends a signal.
package registry

import "github.com/retrysh/retry/engine/text"

type Status string

// What a run does.
const (
	Pending Status = "pending" // it waits for targets
	Waiting Status = "waiting" // before the next attempt
	Running Status = "running" // an attempt, and what follows the last one
	Lost    Status = "lost"    // its program is gone
)

type Run struct {
	RunID         string     `json:"run_id"`
	Name          string     `json:"name"`
	GivenName     string     `json:"given_name,omitempty"` // in records alone, if it is not Name
	PID           int        `json:"pid"`
	Command       []string   `json:"command"`
	Cwd           string     `json:"cwd"`
	Status        Status     `json:"status"`
	Attempt       int        `json:"attempt"`
	MaxAttempts   int        `json:"max_attempts"`
	StartedAt     *text.Time `json:"started_at"`
	DeadlineAt    *text.Time `json:"deadline_at"`
	NextAttemptAt *text.Time `json:"next_attempt_at"`
	NextDelayMS   *float64   `json:"next_delay_ms"`
	LastExit      *int       `json:"last_exit"`
	LastReason    *string    `json:"last_reason"`
	Verdict       *string    `json:"verdict"`
	Rule          *string    `json:"rule"`
	Attempts      []Attempt  `json:"attempts"`
	Key           string     `json:"key"`
	Policy        string     `json:"policy"`
	Depth         int        `json:"depth"`
	Host          string     `json:"host"`
}

type Attempt struct {
	Attempt   int        `json:"attempt"`
	StartedAt *text.Time `json:"started_at"`
	EndedAt   *text.Time `json:"ended_at,omitempty"`  // nil until it has ended
	ExitCode  *int       `json:"exit_code,omitempty"` // and so are these
	Reason    *string    `json:"reason,omitempty"`
}
