package option

// This file resolves the values that rotate (docs/rotation.md).

// rotation checks the lists of values, each of which the command or a hook must use.
func (r *resolver) rotation() {
	r.Policy.Rotate = r.Rotate
	byVariable := map[string]string{}
	scripts := append([]string{r.Hooks.RetryWith, r.Hooks.AfterSuccess, r.Hooks.AfterGiveUp, r.Hooks.Fallback},
		r.Hooks.BeforeRetry...)
	for _, l := range r.Rotate {
		other, twice := byVariable[l.Variable()]
		r.refuse("rotate", twice && other == l.Name,
			"%q is declared twice; give all its values at once, as in %[1]s=a,b", l.Name)
		r.refuse("rotate", twice, "%q and %q are both %s; give one of them another name", other, l.Name, l.Variable())
		byVariable[l.Variable()] = l.Name
		if len(r.Command) > 0 {
			r.fail("rotate", l.CheckUsed(r.Command, scripts...))
		}
	}
}
