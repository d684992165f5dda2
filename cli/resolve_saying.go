package cli

// This file resolves what the program says (SPEC section 15).

// saying resolves the section on what the program says.
func (r *resolver) saying(o *options) {
	o.color, o.logFormat, o.eventFormat = r.g.Color, r.g.LogFormat, r.g.LogFormat
	if r.given("log-file") && !r.given("log-format") {
		o.eventFormat = "json"
	}
}
