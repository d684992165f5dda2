package probe

// Reading an HTTP/1 answer (RFC 9112): only what a probe needs, and never more
// memory than the bounds below, whatever the peer sends.

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	// maxHead bounds status lines and headers together, interim answers
	// included.
	maxHead = 64 << 10
	// maxChunkLine bounds the line before a chunk: its size and extensions.
	maxChunkLine = 4 << 10
)

// What a peer can do wrong.
const (
	errNotHTTP   = plain("answer is not HTTP/1")
	errLooksTLS  = plain("answer is not HTTP/1 but looks like TLS (use https://)")
	errHead      = plain("answer has a malformed header")
	errHeadSize  = plain("answer has more than 64 KiB of headers")
	errLength    = plain("answer has a malformed Content-Length")
	errCoding    = plain("answer has an unknown Transfer-Encoding")
	errChunk     = plain("answer has a malformed chunk")
	errTruncated = plain("closed before the end of its answer")
)

// response is an answer, read in two steps: head, then body.
type response struct {
	r      *bufio.Reader
	status int
	left   int // bytes that the head may still have

	length  string // Content-Length, "" if there was none
	coding  string // Transfer-Encoding, "" if there was none
	lengths bool   // two lengths that differ
}

func newResponse(r *bufio.Reader) *response {
	return &response{r: r, left: maxHead}
}

// readHead reads up to the end of the headers of the final answer. Interim
// answers (1xx) are skipped; 101 is none, since nobody asked to switch.
func (a *response) readHead() error {
	for {
		if err := a.readStatus(); err != nil {
			return err
		}
		a.length, a.coding, a.lengths = "", "", false
		if err := a.readHeaders(); err != nil {
			return err
		}
		if a.status >= 200 || a.status == 101 {
			return nil
		}
	}
}

// line reads a line, without its end, as a part of the head.
func (a *response) line() (string, error) {
	s, err := readLine(a.r, a.left)
	a.left -= len(s)
	if errors.Is(err, errLong) {
		return "", errHeadSize
	}
	return trimEnd(s), err
}

// errLong says that a line is longer than it may be.
var errLong = errors.New("line too long")

// readLine reads up to and with the next line feed, at most limit bytes.
func readLine(r *bufio.Reader, limit int) (string, error) {
	var b []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(b)+len(part) > limit {
			return string(b), errLong
		}
		b = append(b, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(b), err
		}
	}
}

// trimEnd removes the end of a line: CR LF, or a bare LF as RFC 9112, section
// 2.2 allows.
func trimEnd(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

func (a *response) readStatus() error {
	// Refused by its first bytes, a peer that talks something else is not
	// waited for until it has sent a whole line.
	const version = "HTTP/1."
	for n := 1; n <= len(version); n++ {
		start, err := a.r.Peek(n)
		if err != nil {
			if len(start) > 0 && errors.Is(err, io.EOF) {
				return errTruncated
			}
			return err
		}
		switch b := start[n-1]; {
		case b == version[n-1]:
		case n == 1 && (b == 0x15 || b == 0x16): // a TLS alert or handshake
			return errLooksTLS
		default:
			return errNotHTTP
		}
	}
	line, err := a.line()
	if err != nil {
		return cut(err)
	}
	// HTTP/1.x SSS reason, where the reason may be missing with its space.
	rest := line[len(version):]
	if len(rest) < 5 || !isDigit(rest[0]) || rest[1] != ' ' || len(rest) > 5 && rest[5] != ' ' {
		return errNotHTTP
	}
	n, err := strconv.Atoi(rest[2:5])
	if err != nil || n < 100 || !isDigit(rest[2]) {
		return errNotHTTP
	}
	a.status = n
	return nil
}

func (a *response) readHeaders() error {
	for {
		line, err := a.line()
		if err != nil {
			return cut(err)
		}
		if line == "" {
			return nil
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue // a folded value, which none of the fields read here has
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) {
			return errHead
		}
		a.field(name, strings.Trim(value, " \t"))
	}
}

// field remembers a header that says where the body ends.
func (a *response) field(name, value string) {
	switch {
	case strings.EqualFold(name, "Content-Length"):
		a.lengths = a.lengths || a.length != "" && a.length != value
		a.length = value
		if value == "" {
			a.length = "?" // empty is malformed, not missing
		}
	case strings.EqualFold(name, "Transfer-Encoding"):
		if a.coding != "" {
			value = a.coding + ", " + value
		}
		a.coding = value
	}
}

// readBody returns the body, at most limit bytes of it; whole is false where
// there would have been more. Which framing applies: RFC 9112, section 6.3.
func (a *response) readBody(limit int) (body []byte, whole bool, err error) {
	switch {
	case a.status == 101, a.status == 204, a.status == 304:
		return nil, true, nil
	case a.coding != "":
		if !strings.EqualFold(a.coding, "chunked") {
			return nil, false, errCoding
		}
		return a.readChunks(limit)
	case a.length != "":
		return a.readLength(limit)
	}
	body, err = io.ReadAll(io.LimitReader(a.r, int64(limit)+1))
	if len(body) > limit {
		return body[:limit], false, nil
	}
	return body, true, err
}

func (a *response) readLength(limit int) ([]byte, bool, error) {
	n, err := strconv.ParseUint(a.length, 10, 63)
	if err != nil || a.lengths || !isDigit(a.length[0]) {
		return nil, false, errLength
	}
	whole := n <= uint64(limit)
	want := int64(min(n, uint64(limit)))
	body, err := io.ReadAll(io.LimitReader(a.r, want))
	if err == nil && int64(len(body)) < want {
		err = errTruncated
	}
	return body, whole, err
}

// readChunks reads a chunked body (RFC 9112, section 7.1). Extensions are
// skipped; trailers are left unread.
func (a *response) readChunks(limit int) ([]byte, bool, error) {
	var body []byte
	for {
		n, err := a.chunkSize()
		if err != nil {
			return nil, false, err
		}
		if n == 0 {
			return body, true, nil
		}
		want := int64(min(n, uint64(limit-len(body))))
		part, err := io.ReadAll(io.LimitReader(a.r, want))
		body = append(body, part...)
		switch {
		case err != nil:
			return nil, false, err
		case int64(len(part)) < want:
			return nil, false, errTruncated
		case uint64(want) < n:
			return body, false, nil
		}
		if end, err := readLine(a.r, 2); err != nil || trimEnd(end) != "" {
			return nil, false, cutChunk(err)
		}
	}
}

// chunkSize reads the line before a chunk.
func (a *response) chunkSize() (uint64, error) {
	line, err := readLine(a.r, maxChunkLine)
	if err != nil {
		return 0, cutChunk(err)
	}
	digits, _, _ := strings.Cut(trimEnd(line), ";")
	digits = strings.TrimRight(digits, " \t")
	if digits == "" || !isHex(digits[0]) {
		return 0, errChunk
	}
	n, err := strconv.ParseUint(digits, 16, 63)
	if err != nil {
		return 0, errChunk
	}
	return n, nil
}

// cutChunk says what a failure inside a chunk's frame means.
func cutChunk(err error) error {
	if err == nil || errors.Is(err, errLong) {
		return errChunk
	}
	return cut(err)
}

// cut turns an end of input in the middle of an answer into words.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isToken tells whether s can be a header's name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(b)) {
			return false
		}
	}
	return s != ""
}
