package option

// This file resolves what attempts pretend (docs/rehearsal.md).

// rehearsal checks what attempts pretend.
func (r *resolver) rehearsal() {
	for _, flag := range []string{"rehearse-stdout", "rehearse-stderr"} {
		r.refuse(flag, r.Rehearse == nil && r.typed(flag), "is valid with --rehearse only, whose attempts write it")
	}
	r.refuse("rehearse", r.Rehearse != nil && r.typed("rehearse") && r.Plan,
		"cannot be used with --plan, which runs nothing; leave out --plan, as in: retry --base 0 --rehearse 75,0 -- "+
			"COMMAND")
	r.refuse("rehearse", r.Rehearse != nil && r.Exec, "cannot be used with --exec, which becomes the command")
	r.refuse("rehearse", r.Rehearse != nil && r.o.Given("hedge"),
		"cannot be used with --hedge: pretended copies would all end alike")
}
