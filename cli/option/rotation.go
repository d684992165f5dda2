package option

// This file resolves the values that rotate (docs/rotation.md).

// rotation checks the lists of values, each of which the command or a hook must use.
func (r *resolver) rotation() {
	r.o.Policy.Rotate = r.Rotate
	byVariable := map[string]string{}
	scripts := append([]string{r.o.Hooks.RetryWith, r.o.Hooks.AfterSuccess, r.o.Hooks.AfterGiveUp, r.o.Hooks.Fallback},
		r.o.Hooks.BeforeRetry...)
	for _, l := range r.Rotate {
		other, twice := byVariable[l.Variable()]
		r.refuse("rotate", twice && other == l.Name,
			"%q is declared twice; give all its values at once, as in %[1]s=a,b", l.Name)
		r.refuse("rotate", twice, "%q and %q are both %s; give one of them another name", other, l.Name, l.Variable())
		byVariable[l.Variable()] = l.Name
		if len(r.o.Command) > 0 {
			r.fail("rotate", l.CheckUsed(r.o.Command, scripts...))
		}
	}
}
