package llm

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/retry"
)

// Kind says how asking failed.
type Kind string

// The kinds. The question may be the cause of the first three, but not of the
// last three.
const (
	Slow    Kind = "slow"    // no answer in time
	Babbled Kind = "output"  // no usable answer, however often it was asked
	Refused Kind = "refused" // the server refuses this question
	Setup   Kind = "setup"   // address, key or model are wrong, so somebody has to act
	Busy    Kind = "busy"    // the server asks to come again later
	Gone    Kind = "gone"    // the server can't be reached, the connection broke, or the server failed
)

// Fault is a failure to get an answer. Its text never contains the key, and of
// the question and the answer only the server's own short message.
type Fault struct {
	Kind   Kind
	Status int           // of HTTP; 0: there was no answer
	Detail string        // in words
	After  time.Duration // Busy: when the server said to come again; 0: it did not say
}

// Error says what happened.
func (f *Fault) Error() string {
	what := map[Kind]string{Slow: "the model takes too long", Babbled: "the model's answer can't be used", Refused: "the server refuses the question",
		Setup: "address, key or model are wrong", Busy: "the server is busy", Gone: "the server does not answer"}[f.Kind]
	if f.Detail != "" {
		what += ": " + f.Detail
	}
	return what
}

// Temporary reports whether the same question may be answered later, while the
// question itself is not the cause. For [Slow] this is unknown, and it returns
// false.
func (f *Fault) Temporary() bool { return f.Kind == Busy || f.Kind == Gone || f.Kind == Setup }

// maxDetail is how many bytes of a server's message are kept.
const maxDetail = 200

func faultf(k Kind, status int, format string, args ...any) *Fault {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(fmt.Sprintf(format, args...), "")), " ")
	if len(s) > maxDetail {
		n := maxDetail
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return &Fault{Kind: k, Status: status, Detail: s}
}

// ofStatus returns the fault for an answer that is not 2xx.
func ofStatus(status int, h http.Header, message string) *Fault {
	if message == "" {
		message = http.StatusText(status)
	}
	f := faultf(Refused, status, "%d: %s", status, message)
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		f.Kind, f.After = Busy, retry.Asked(h.Get("Retry-After"), time.Now(), maxAfter)
	case status == http.StatusRequestTimeout || status >= 500:
		f.Kind = Gone
	case status >= http.StatusUnauthorized && status <= http.StatusForbidden || status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status < 400:
		f.Kind = Setup
	}
	return f
}

// maxAfter limits Retry-After.
const maxAfter = time.Hour
