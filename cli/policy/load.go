package policy

// This file opens policy files and what they include.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/classify"
)

// policySet is what policy files hold, in the order in which they were read.
type policySet struct {
	// policies may hold several of one name; the first counts.
	policies []*policyDef
	rules    []*classify.Table
	// ignored are files that were not named and not read, since other users can write
	// them.
	ignored []string

	byName map[string]*policyDef // the first of each name, once index was called
}

// index makes find possible.
func (s *policySet) index() {
	s.byName = make(map[string]*policyDef, len(s.policies))
	for _, p := range s.policies {
		if s.byName[p.name] == nil {
			s.byName[p.name] = p
		}
	}
}

// find returns the policy of that name, nil for none.
func (s *policySet) find(name string) *policyDef { return s.byName[name] }

// Limits of what is read, against mistakes such as "include /**".
const (
	largestPolicyFile = 1 << 20
	mostPolicyFiles   = 1000
)

// policyLoader reads files and what they include.
type policyLoader struct {
	table []option.Flag
	set   policySet
	files []os.FileInfo // all that were read
	stack []os.FileInfo // those that are being read
	// unasked says that the files were not named: those that other users can write
	// are not read then.
	unasked bool
}

// load reads a file and what it includes.
func (l *policyLoader) load(name string) error {
	text, info, err := readPolicyFile(name)
	if err != nil {
		return err
	}
	same := func(other os.FileInfo) bool { return os.SameFile(other, info) }
	switch {
	case slices.ContainsFunc(l.stack, same):
		return fmt.Errorf("%q includes itself", name)
	case slices.ContainsFunc(l.files, same):
		return nil // read by another way; its definitions came first
	case len(l.files) == mostPolicyFiles:
		return fmt.Errorf("more than %d files are too many", mostPolicyFiles)
	}
	trusted := ownedAlone(info)
	if l.unasked && !trusted {
		l.set.ignored = append(l.set.ignored, name)
		return nil
	}
	l.files, l.stack = append(l.files, info), append(l.stack, info)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()
	return l.read(name, text, trusted)
}

// read takes over the blocks of one file, what it includes at its place.
func (l *policyLoader) read(name, text string, trusted bool) error {
	p := policyParser{table: l.table, file: name}
	blocks, err := p.parse(text)
	if err != nil {
		return err
	}
	if p.hasRules {
		rules, err := classify.ParseRules(name, []byte(text))
		if err != nil {
			return &fileError{err}
		}
		l.set.rules = append(l.set.rules, rules)
	}
	for _, b := range blocks {
		if b.policy == nil {
			if err := l.include(name, b); err != nil {
				return err
			}
			continue
		}
		b.policy.trusted = trusted
		l.set.policies = append(l.set.policies, b.policy)
	}
	return nil
}

// include reads the files that a line names. A mistake within one of them has
// a place of its own.
func (l *policyLoader) include(from string, b policyBlock) error {
	names, err := included(from, b.include)
	for _, name := range names {
		if err = l.load(name); err != nil {
			break
		}
	}
	if err == nil || errors.As(err, new(*fileError)) {
		return err
	}
	return b.place.fault("include: %w", err)
}

// IncludedRules are the rules of the files that a rule file includes, each over
// those before it. Its policies are proved, and not used.
func IncludedRules(name, text string) ([]*classify.Table, error) {
	l := policyLoader{table: option.Table()}
	p := policyParser{table: l.table, file: name}
	blocks, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if b.policy == nil {
			if err := l.include(name, b); err != nil {
				return nil, err
			}
		}
	}
	slices.Reverse(l.set.rules)
	return l.set.rules, nil
}

// included are the files that an include names, in lexical order. As a shell
// has it, a star takes no name that begins with a dot; unlike a shell's, a
// pattern may match nothing.
func included(from, pattern string) ([]string, error) {
	full := pattern
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(from), full)
	}
	if !strings.ContainsAny(pattern, `*?[`) {
		return []string{full}, nil
	}
	names, err := filepath.Glob(full)
	if err != nil {
		return nil, fmt.Errorf("%q is not a valid pattern; [ needs its ]", pattern)
	}
	if !strings.HasPrefix(filepath.Base(full), ".") {
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") })
	}
	slices.Sort(names)
	return names, nil
}

// readPolicyFile reads a regular file, or the null device, and never waits for
// anybody: a FIFO is opened without a writer, and refused.
func readPolicyFile(name string) (string, os.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if fault := new(fs.PathError); errors.As(err, &fault) {
			err = fmt.Errorf("%q: %w", name, fault.Err)
		}
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", nil, err
	case name == os.DevNull:
		return "", info, nil
	case info.IsDir():
		return "", nil, fmt.Errorf("%q is a directory", name)
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("%q is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, largestPolicyFile+1))
	if err == nil && len(data) > largestPolicyFile {
		err = fmt.Errorf("%q has more than %d MiB, which policies do not", name, largestPolicyFile>>20)
	}
	return string(data), info, err
}

// absent reports whether a file of the default places does not exist, or is where
// this user may not read, as /root is for a service that kept root's HOME.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
}
