package option

// This file resolves what the program says and sends (SPEC sections 15 and 18).

import (
	"time"

	"github.com/retrysh/retry/engine/telemetry"
)

// saying resolves the section on what the program says.
func (r *resolver) saying(o *Options) {
	o.Color, o.LogFormat, o.EventFormat, o.Name = r.g.Color, r.g.LogFormat, r.g.LogFormat, string(r.g.Name)
	o.Timestamps = r.g.Timestamps
	if r.given("log-file") && !r.given("log-format") {
		o.EventFormat = "json"
	}
	o.Telemetry = telemetry.Config{
		MetricsFile: string(r.g.MetricsFile), StatsD: telemetry.StatsD(r.g.Statsd), OTLP: string(r.g.Otlp),
		OTLPTimeout: time.Duration(r.g.OtlpTimeout), OTLPTimeoutGiven: r.given("otlp-timeout"), OTLPArgs: r.g.OtlpArgs,
	}
}
