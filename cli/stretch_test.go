package cli

// This file is the helper of the scripts that are about spans of time:
//
//	stretch SPAN TEXT... -- CMD [ARG...]
//
// runs CMD with {span} in its words replaced by SPAN, {span*N} by N times that, and
// {seconds} and {seconds*N} by the same as a number. While one of the regular expressions
// TEXT matches neither stream of its output, it does so again with six times the span: on a
// busy machine, what was to happen within the span has not happened. It prints the output
// of the last run alone and has its exit code. The last span is a minute. A program that
// never prints TEXT fails in the script's next line.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"
)

var spanWord = regexp.MustCompile(`\{(span|seconds)(?:\*([0-9.]+))?\}`)

// longestSpan is the last one that is tried.
const longestSpan = time.Minute

func stretchMain() {
	end := slices.Index(os.Args, "--")
	if end < 3 || end+1 == len(os.Args) {
		stretchNeeds(errors.New("usage: stretch SPAN TEXT... -- CMD [ARG...]"))
	}
	span, err := time.ParseDuration(os.Args[1])
	stretchNeeds(err)
	var texts []*regexp.Regexp
	for _, word := range os.Args[2:end] {
		text, err := regexp.Compile("(?m)" + word)
		stretchNeeds(err)
		texts = append(texts, text)
	}
	for ; ; span = min(6*span, longestSpan) {
		var words []string
		for _, word := range os.Args[end+1:] {
			words = append(words, inSpan(word, span))
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, &stdout, &stderr
		err := cmd.Run()
		if cmd.ProcessState == nil {
			stretchNeeds(err)
		}
		isLate := func(text *regexp.Regexp) bool { return !text.Match(stdout.Bytes()) && !text.Match(stderr.Bytes()) }
		if span < longestSpan && slices.ContainsFunc(texts, isLate) {
			continue
		}
		_, outErr := os.Stdout.Write(stdout.Bytes())
		_, errErr := os.Stderr.Write(stderr.Bytes())
		stretchNeeds(errors.Join(outErr, errErr))
		os.Exit(cmd.ProcessState.ExitCode())
	}
}

// inSpan puts the span in its places.
func inSpan(word string, span time.Duration) string {
	return spanWord.ReplaceAllStringFunc(word, func(place string) string {
		parts := spanWord.FindStringSubmatch(place)
		times := 1.0
		if parts[2] != "" {
			var err error
			times, err = strconv.ParseFloat(parts[2], 64)
			stretchNeeds(err)
		}
		product := time.Duration(times * float64(span)).Round(time.Millisecond)
		if parts[1] == "seconds" {
			return strconv.FormatFloat(product.Seconds(), 'f', -1, 64)
		}
		return product.String()
	})
}

func stretchNeeds(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "stretch:", err)
		os.Exit(99)
	}
}
