package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// Config says what is sent where; the zero value of a field sends nothing.
type Config struct {
	// MetricsFile is a file for Prometheus's textfile collector.
	MetricsFile string
	StatsD      StatsD
	// OTLP is auto or the address of a collector.
	OTLP string
	// OTLPTimeout limits what the collector may take; OTLPTimeoutGiven says that
	// no variable may shorten it.
	OTLPTimeout      time.Duration
	OTLPTimeoutGiven bool
	// OTLPArgs adds the command's words to the run's span.
	OTLPArgs bool
	// Lookup returns the value of an environment variable.
	Lookup func(string) string
	// Warn reports a failure, Detail a line for verbose mode.
	Warn, Detail func(string)
}

// Sink records a run and sends it.
type Sink struct {
	run
	Config Config
}

// New returns a sink that reads the record of the run, which has each event before the sink.
func New(c Config, r *event.Run) *Sink { return &Sink{run: run{Run: r}, Config: c} }

// Send sends the run to all that it is configured for, side by side. The end of
// ctx drops what is not yet sent.
func (s *Sink) Send(ctx context.Context) {
	r := &s.run
	if r.End == nil {
		return
	}
	warn := s.Config.Warn
	if r.End.Outcome == event.Cancelled {
		warn = func(string) {}
	}
	jobs := s.jobs(ctx, r)
	results := make([]chan error, len(jobs))
	for i, job := range jobs {
		results[i] = make(chan error, 1)
		go func() { results[i] <- job.send() }()
	}
	for i, job := range jobs {
		select {
		case err := <-results[i]:
			if err != nil && ctx.Err() == nil {
				warn(fmt.Sprintf("%s: %v", job.flag, err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// job is one of the three that are sent.
type job struct {
	flag string
	send func() error
}

func (s *Sink) jobs(ctx context.Context, r *run) (jobs []job) {
	c := &s.Config
	if c.MetricsFile != "" && !r.Rehearsed {
		jobs = append(jobs, job{"--metrics-file", func() error { return addToFile(ctx, c.MetricsFile, r) }})
	}
	if c.StatsD.address != "" && !r.Rehearsed {
		jobs = append(jobs, job{"--statsd", func() error { return c.StatsD.send(ctx, r) }})
	}
	if c.OTLP != "" {
		variables := &reader{lookup: c.Lookup}
		o := otlpFrom(c, variables)
		for _, line := range variables.notes {
			c.Detail(line)
		}
		for _, line := range variables.warnings {
			c.Warn(line)
		}
		if o != nil {
			jobs = append(jobs, job{"--otlp", func() error { return o.send(ctx, r) }})
		}
	}
	return jobs
}
