package cli

// This file resolves what the program says (SPEC section 15).

// saying resolves the section on what the program says.
func (r *resolver) saying(o *options) {
	o.color = r.oneOf("color", r.g.Color)
	o.logFormat = r.oneOf("log-format", r.g.LogFormat)
	if o.eventFormat = o.logFormat; r.given("log-file") && !r.given("log-format") {
		o.eventFormat = "json"
	}
	r.fileName("log-file", r.g.LogFile)
}
