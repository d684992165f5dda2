package cli

// This file wires what is sent of a run when it has ended.

import (
	"os"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/telemetry"
)

// telemetryMargin is what a lock of the metrics file or a name of a server may
// take where the collector's limit is shorter.
const telemetryMargin = 1500 * time.Millisecond

// addTelemetry adds the sink for --metrics-file, --statsd and --otlp, and returns
// how long it may take: 0 where none of them was given.
func (out *output) addTelemetry(o *option.Options) time.Duration {
	c := o.Telemetry
	if c.MetricsFile == "" && c.OTLP == "" && c.StatsD == (telemetry.StatsD{}) || o.Exec {
		return 0
	}
	c.Lookup, c.Note, c.Complain = os.Getenv, out.note, func(string) {}
	if !o.Quiet {
		c.Complain = func(line string) { out.complain("%s", line) }
	}
	out.sinks = append(out.sinks, &telemetry.Sink{Config: c})
	return c.OTLPTimeout + telemetryMargin
}
