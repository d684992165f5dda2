package cli

// This file resolves what the program says (SPEC section 15).

import ()

// saying resolves the section on what the program says.
func (r *resolver) saying(o *options) {
	o.color = r.oneOf("color", r.g.Color)
	o.logFormat = r.oneOf("log-format", r.g.LogFormat)
	r.fileName("log-file", r.g.LogFile)
}
