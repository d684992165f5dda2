package policy

// This file reads policy files and what they include.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/retrysh/retry/cli/input"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/lockedfile"
)

// policySet is what policy files hold, in the order in which they are read.
type policySet struct {
	policies []*policyDef
	byName   map[string]*policyDef // the first of each name, which counts
	rules    []*classify.Table
	// unasked says that the files were not named. ignored are those that are not read
	// then, since other users can write them.
	unasked bool
	ignored []string

	files, stack []os.FileInfo // all that were read, and those that are being read
}

func (s *policySet) add(def *policyDef) {
	s.policies = append(s.policies, def)
	if s.byName == nil {
		s.byName = map[string]*policyDef{}
	}
	if s.byName[def.Name] == nil {
		s.byName[def.Name] = def
	}
}

// Limits of what is read, against mistakes such as "include /**".
const (
	largestPolicyFile = 1 << 20
	largestRuleFile   = 4 << 20 // some twenty times what the built-in rules take
	mostPolicyFiles   = 1000
)

// load reads a file and what it includes. Mistakes in it name their place; blame says who
// names a file that cannot be read.
func (s *policySet) load(name string, blame func(error) error) error {
	text, info, err := readPolicyFile(name)
	if err != nil {
		return blame(err)
	}
	same := func(other os.FileInfo) bool { return os.SameFile(other, info) }
	// As StrictModes of sshd_config(5): root's, or the user's, and no other user may write it.
	trusted := lockedfile.Own(info) == nil || lockedfile.OwnedBy(info, 0) == nil && info.Mode().Perm()&0o022 == 0
	switch {
	case slices.ContainsFunc(s.stack, same):
		return blame(fmt.Errorf("%q includes itself", name))
	case slices.ContainsFunc(s.files, same):
		return nil // read by another way; its definitions came first
	case len(s.files) == mostPolicyFiles:
		return blame(fmt.Errorf("more than %d files are too many", mostPolicyFiles))
	case s.unasked && !trusted:
		s.ignored = append(s.ignored, name)
		return nil
	}
	s.files, s.stack = append(s.files, info), append(s.stack, info)
	defer func() { s.stack = s.stack[:len(s.stack)-1] }()
	p := policyParser{file: name}
	blocks, err := p.parse(text)
	if err != nil {
		return err
	}
	if p.hasRules {
		rules, err := classify.ParseRules(name, []byte(text))
		if err != nil {
			return err
		}
		s.rules = append(s.rules, rules)
	}
	return s.take(name, blocks)
}

// take adds the policies of a file, and reads what it includes at its place.
func (s *policySet) take(name string, blocks []*policyDef) error {
	for _, b := range blocks {
		if b.include == "" {
			s.add(b)
		} else if err := s.include(name, b); err != nil {
			return err
		}
	}
	return nil
}

// include reads the files that a line names, at its place.
func (s *policySet) include(from string, b *policyDef) error {
	blame := func(err error) error { return b.place.fault("include: %w", err) }
	names, err := included(from, b.include)
	if err != nil {
		return blame(err)
	}
	for _, name := range names {
		if err := s.load(name, blame); err != nil {
			return err
		}
	}
	return nil
}

// ReadRules returns the rules of a file, after those of the files that it includes, each
// table over those before it. Its policies are checked, and not used.
func ReadRules(name string) ([]*classify.Table, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := input.ReadAll(f, largestRuleFile, "rules")
	if err != nil {
		return nil, err
	}
	rules, err := classify.ParseRules(name, data)
	if err != nil {
		return nil, err
	}
	s := policySet{rules: []*classify.Table{rules}}
	p := policyParser{file: name}
	blocks, err := p.parse(string(data))
	if err == nil {
		err = s.take(name, blocks)
	}
	slices.Reverse(s.rules)
	return s.rules, err
}

// included are the files that an include names, in lexical order. As in a shell, a star
// matches no name that begins with a dot; unlike in a shell, a pattern may match nothing.
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
	hidden := func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }
	if !hidden(full) {
		names = slices.DeleteFunc(names, hidden)
	}
	slices.Sort(names)
	return names, nil
}

// readPolicyFile reads a regular file, or the null device. It never waits for a writer.
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
	if err == nil {
		err = input.Regular(name, info)
	}
	if err != nil {
		return "", nil, err
	}
	data, err := input.ReadAll(f, largestPolicyFile, "policies")
	return string(data), info, err
}

// unlessAbsent returns no error if a file of the default places does not exist, or is in a
// directory that this user may not read, as /root is for a service that kept root's HOME.
func unlessAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return fmt.Errorf("policies: %w", err)
}
