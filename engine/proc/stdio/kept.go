package stdio

// This file keeps output until the run ends (OnFailure).

// Kept is the output of one attempt that is written only if the run gives up.
type Kept struct {
	streams *Streams
	outputs []held
}

// Kept returns the output that is kept, nil for none. The streams no longer have it.
func (s *Streams) Kept() *Kept {
	k := Kept{streams: s}
	var others []held
	for _, h := range s.held {
		if h.mode == OnFailure {
			k.outputs = append(k.outputs, h)
		} else {
			others = append(others, h)
		}
	}
	s.held = others
	if k.outputs == nil {
		return nil
	}
	return &k
}

// Release writes each output where it belongs, standard output first, with the errors of
// Streams.Settle.
func (k *Kept) Release(isEnding func() bool) error {
	defer k.Drop()
	return k.streams.release(k.outputs, true, isEnding)
}

// Drop drops the output.
func (k *Kept) Drop() {
	drop(k.outputs)
	k.outputs = nil
}
