package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/dialfault"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A replica reacts to these errors. errors.As with an [*Error] gives the
// details. [NetworkError] comes from the network.
var (
	// ErrAnswer: the relay's answer is malformed. The relay is broken, or lies.
	ErrAnswer = errors.New("answer is malformed")
	// ErrPortal: something else answers in the relay's place, for example a
	// network that requires a login. It wraps [ErrAnswer].
	ErrPortal = fmt.Errorf("%w: something else answers in the relay's place: does the network want a login?", ErrAnswer)
	// ErrFailed: the relay has an internal error; try again later.
	ErrFailed = errors.New("relay failed")
	// ErrQuota: a quota is used up; wait for at least RetryAfter.
	ErrQuota = errors.New("quota is used up")
	// ErrBusy: wait for RetryAfter.
	ErrBusy = errors.New("relay is busy")
	// ErrForbidden: the caller is not a member, or its role may not do this.
	ErrForbidden = errors.New("relay forbids it")
	// ErrInvite: a new account needs an invitation.
	ErrInvite = errors.New("an invitation is needed")
	// ErrNotFound: the relay does not have it.
	ErrNotFound = errors.New("relay does not have it")
	// ErrConflict: the log has new entries; read them, and append again.
	ErrConflict = errors.New("the log has moved on")
	// ErrFork: this member signed another delta at that place.
	ErrFork = errors.New("chain is forked")
	// ErrChains: the relay takes no more chains of this author in the space.
	ErrChains = errors.New("relay takes no more chains of this author")
	// ErrGap: the relay lacks earlier deltas.
	ErrGap = errors.New("relay lacks earlier deltas")
	// ErrUnknownHead: the relay lacks the log entry that a delta names.
	ErrUnknownHead = errors.New("relay lacks a log entry")
	// ErrAhead: our cursor is beyond the relay's last delta. The relay has gone
	// back to an earlier state.
	ErrAhead = errors.New("relay is behind what it showed before")
	// ErrBlob: the bytes do not have the hash that is the blob's id.
	ErrBlob = errors.New("blob is not the one that its id names")
	// ErrTrade: the market does not take it; an [*Error] says why.
	ErrTrade = errors.New("the market refuses it")
	// ErrRefused: the relay finds the request itself wrong.
	ErrRefused = errors.New("relay refuses the request")

	errStale  = errors.New("clock is off")
	errOffset = errors.New("chunk does not begin where the blob ends")
)

var kinds = map[page.Kind]error{
	page.Quota: ErrQuota, page.Busy: ErrBusy, page.Unavailable: ErrBusy, page.Full: ErrFailed, page.Forbidden: ErrForbidden, page.Rule: ErrForbidden, page.Invite: ErrInvite,
	page.NotFound: ErrNotFound, page.Conflict: ErrConflict, page.Fork: ErrFork, page.Gap: ErrGap, page.Chains: ErrChains,
	page.UnknownHead: ErrUnknownHead, page.Ahead: ErrAhead, page.BlobHash: ErrBlob, page.Stale: errStale, page.Offset: errOffset,
	page.Trade: ErrTrade,
}

// NetworkError is an error of the network: the request or its answer did not get through.
type NetworkError struct{ Err error }

func (u *NetworkError) Error() string { return dialfault.Words(u.Err) }

// Unwrap returns the network's error.
func (u *NetworkError) Unwrap() error { return u.Err }

// IsFault reports whether a relay that was reached did not do its part: it is busy, has failed,
// refuses the request itself, or its answer can't be read.
func IsFault(err error) bool {
	return errors.Is(err, ErrAnswer) || errors.Is(err, ErrFailed) || errors.Is(err, ErrBusy) || errors.Is(err, ErrRefused)
}

// maxRetry bounds RetryAfter.
const maxRetry = 24 * time.Hour

// Error is a relay's refusal.
type Error struct {
	Kind       page.Kind // "" if the relay gave none
	Status     int
	Detail     string        // the relay's words, at most 200 bytes
	What       string        // with ErrQuota: which quota is used up
	Limit      int64         // with ErrQuota: its limit
	RetryAfter time.Duration // at most a day; 0: the relay said nothing
	Request    string        // the operator's id of the request; "" if the relay gave none
	is         error
}

// Error returns the kind and the relay's words, quoted. The text is the same
// each time for the same error.
func (e *Error) Error() string {
	return fmt.Sprintf("%v (%d, %q)", e.is, e.Status, e.Detail)
}

// RequestID returns the id by which the relay's operator can find the request,
// or "" if the relay gave none.
func (e *Error) RequestID() string { return e.Request }

// Unwrap returns one of the sentinels above.
func (e *Error) Unwrap() error { return e.is }

func problem(res *http.Response, body []byte) error {
	p, kind := page.ParseProblem(body)
	if kind == "" {
		kind = page.Kind(short(res.Header.Get(page.FieldProblem))) // the answer to a HEAD has no body
	}
	e := &Error{Kind: kind, Status: res.StatusCode, Detail: short(p.Detail), What: short(p.What), Limit: p.Limit, Request: requestID(res), is: kinds[kind]}
	switch {
	case e.is != nil:
	case res.StatusCode == http.StatusNotFound:
		e.is = ErrNotFound
	case res.StatusCode == http.StatusForbidden:
		e.is = ErrForbidden
	case res.StatusCode == http.StatusTooManyRequests:
		e.is = ErrQuota
	case res.StatusCode == http.StatusServiceUnavailable:
		e.is = ErrBusy
	case res.StatusCode >= 500:
		e.is = ErrFailed
	case res.StatusCode >= 400:
		e.is = ErrRefused
	default: // redirects are not followed, because they could lead anywhere
		e.is = ErrPortal
	}
	if kind == "" && (res.StatusCode < 500 && isPage(res) || res.StatusCode == http.StatusNetworkAuthenticationRequired) {
		e.is = ErrPortal // the answer is a web page, and not a relay's problem document
	}
	e.RetryAfter = retry.Asked(res.Header.Get("Retry-After"), time.Now(), maxRetry)
	return e
}

// isPage reports whether an answer is a web page for a person. A relay never
// sends one.
func isPage(res *http.Response) bool {
	return strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
}

// requestID returns the id in letters and digits only, because it is written to
// logs.
func requestID(res *http.Response) string {
	id := res.Header.Get(page.FieldRequest)
	if len(id) > 64 || strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
	}) {
		return ""
	}
	return id
}

// short cuts what a relay wrote, for a message.
func short(s string) string { return memory.Cut(s, 200) }
