package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Problem is an error of the API (RFC 9457). Type is stable: clients may depend
// on it. A Client returns a problem as an error; errors.Is finds in it the
// sentinel that the service returned.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Field  string `json:"field,omitempty"` // the wrong field or parameter

	wait time.Duration // how long to wait before trying again; 0: unknown
}

// Header sets the headers of an answer with the problem: Retry-After, if it is known when the
// request may be made again.
func (p *Problem) Header(h http.Header) {
	if p.wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64(p.wait/time.Second), 10))
	}
}

// MediaTypeProblem is the content type of a Problem.
const MediaTypeProblem = "application/problem+json"

// typePrefix begins every Problem.Type.
const typePrefix = "urn:locket:problem:"

// kind is one kind of problem: the last part of its type, and its properties.
type kind struct {
	name   string
	status int
	title  string
	cause  error // the service's error that it stands for; a client finds it in the problem
}

// Docs is the address of the folder docs. Error messages use it because packages do not include the
// docs.
const Docs = "https://github.com/locket-dev/locket/blob/main/docs/"

var (
	kindRequest     = kind{"invalid-request", http.StatusBadRequest, "The request can't be read", nil}
	kindToken       = kind{"unauthorized", http.StatusUnauthorized, "The token is missing or wrong", nil}
	kindKey         = kind{"app-key", http.StatusUnauthorized, "The app's key is unknown, revoked or expired", ErrKey}
	kindForbidden   = kind{"forbidden", http.StatusForbidden, "The app has no right to this", ErrForbidden}
	kindLimit       = kind{"limit", http.StatusTooManyRequests, "The app has reached a limit", ErrLimit}
	kindPassphrase  = kind{"wrong-passphrase", http.StatusForbidden, "The passphrase is wrong", ErrPassphrase}
	kindNotFound    = kind{"not-found", http.StatusNotFound, "There is no such thing", memory.ErrNotFound}
	kindRoute       = kind{"no-such-route", http.StatusNotFound, "There is no such path", nil}
	kindMethod      = kind{"method-not-allowed", http.StatusMethodNotAllowed, "The path has no such method", nil}
	kindAmbiguous   = kind{"ambiguous", http.StatusConflict, "The id fits more than one memory", memory.ErrAmbiguous}
	kindConflict    = kind{"conflict", http.StatusConflict, "The present state does not allow it", ErrConflict}
	kindChanged     = kind{"changed", http.StatusConflict, "It has changed since it was read", ErrChanged}
	kindPlan        = kind{"plan-gone", http.StatusGone, "The plan is used or too old", nil}
	kindTooLarge    = kind{"too-large", http.StatusRequestEntityTooLarge, "The request is too large", nil}
	kindMedia       = kind{"unsupported-media-type", http.StatusUnsupportedMediaType, "The content type is not the one that is taken", nil}
	kindHost        = kind{"host-not-allowed", http.StatusMisdirectedRequest, "The host is not this machine's loopback", nil}
	kindInvalid     = kind{"invalid", http.StatusUnprocessableEntity, "A value breaks a rule", memory.ErrInvalid}
	kindSecret      = kind{"secret", http.StatusUnprocessableEntity, "A text holds a secret", ErrSecret}
	kindLocked      = kind{"locked", http.StatusLocked, "The node is locked", memory.ErrLocked}
	kindVault       = kind{"vault-locked", http.StatusLocked, "The vault is locked", ErrVaultLocked}
	kindInternal    = kind{"internal", http.StatusInternalServerError, "The node failed", nil}
	kindSigner      = kind{"not-yours", http.StatusForbidden, "The archive is not signed by a device of yours", ErrSigner}
	kindUnsupported = kind{"unsupported", http.StatusNotImplemented, "This node can't do that", ErrUnsupported}
	kindRelay       = kind{"relay", http.StatusBadGateway, "A relay failed", ErrRelay}
	kindEngine      = kind{"engine", http.StatusBadGateway, "An engine failed", ErrEngine}
	kindMisheard    = kind{"misheard", http.StatusBadGateway, "An engine's answer is far from what the sample says", ErrMisheard}
	kindCold        = kind{"cold", http.StatusServiceUnavailable, "It is cold, and can't be fetched now", ErrCold}
	kindSpace       = kind{"no-space", http.StatusInsufficientStorage, "The disk's reserve is reached", memory.ErrNoSpace}
)

// kinds lists every kind of problem. Those with a cause are tried in this
// order.
var kinds = []kind{
	kindRequest, kindToken, kindKey, kindForbidden, kindLimit, kindPassphrase, kindNotFound, kindRoute, kindMethod, kindAmbiguous,
	kindConflict, kindChanged, kindPlan, kindTooLarge, kindMedia, kindHost, kindSecret, kindInvalid, kindVault, kindLocked,
	kindSigner, kindRelay, kindMisheard, kindEngine, kindInternal, kindUnsupported, kindSpace, kindCold,
}

// Problems returns every kind of problem, ordered by status.
func Problems() []Problem {
	var out []Problem
	for _, k := range kinds {
		out = append(out, *k.problem("", ""))
	}
	sorting.Stable(out, func(a, b Problem) int { return a.Status - b.Status })
	return out
}

// problem makes a problem of a kind. If it were inlined in its 250 places, the binary would be 20
// kB larger.
//
//go:noinline
func (k kind) problem(field, detail string) *Problem {
	return &Problem{Type: typePrefix + k.name, Title: k.title, Status: k.status, Detail: detail, Field: field}
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// Is reports whether the problem stands for a sentinel.
func (p *Problem) Is(target error) bool {
	if target == memory.ErrInvalid && p.Type == typePrefix+kindSecret.name {
		return true
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return p.Type == typePrefix+k.name })
	return i >= 0 && errors.Is(kinds[i].cause, target) // ErrMisheard is also an ErrEngine
}

// FieldError is an error about one field or parameter of a request.
type FieldError struct {
	Field string
	Err   error
}

// InField adds to an error which field or parameter it is about.
func InField(field string, err error) error { return &FieldError{field, err} }

// Error implements error. It returns the text of the error alone.
func (e *FieldError) Error() string { return e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// PassingError is an error that goes away by itself: the same request may be made again after a
// time.
type PassingError struct {
	After time.Duration
	Err   error
}

// WithRetryAfter adds to an error after which time it goes away.
func WithRetryAfter(after time.Duration, err error) error { return &PassingError{after, err} }

// Error implements error. It returns the text of the error alone.
func (e *PassingError) Error() string { return e.Err.Error() }

func (e *PassingError) Unwrap() error { return e.Err }

// problemOf turns a service's error into a problem. An unexpected error is logged, and the answer
// does not contain its text.
func (h *handler) problemOf(ctx context.Context, route string, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return kindTooLarge.problem("", fmt.Sprintf("the body has more than %d bytes", large.Limit))
	}
	for _, k := range kinds {
		if k.cause != nil && errors.Is(err, k.cause) {
			p := k.problem("", err.Error())
			if e, ok := errors.AsType[*FieldError](err); ok {
				p.Field = e.Field
			}
			if e, ok := errors.AsType[*PassingError](err); ok {
				p.wait = max(time.Second, (e.After + time.Second - 1).Truncate(time.Second))
			}
			return p
		}
	}
	if ctx.Err() == nil {
		h.log.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("route", route), slog.Any("error", err))
	}
	return kindInternal.problem("", "see the node's log")
}

func writeProblem(w http.ResponseWriter, p *Problem) { writeProblemAs(w, p, p) }

// writeEarlyProblem writes a problem that is found before it is known which handler is called.
// OpenAI's clients look for its text in error.message, and without that show only the status.
func writeEarlyProblem(w http.ResponseWriter, p *Problem) {
	type message struct {
		Message string `json:"message"`
	}
	writeProblemAs(w, p, struct {
		*Problem
		Error message `json:"error"`
	}{p, message{p.Error()}})
}

func writeProblemAs(w http.ResponseWriter, p *Problem, body any) {
	if p.Status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="locket"`)
	}
	p.Header(w.Header())
	writeJSON(w, p.Status, MediaTypeProblem, body)
}

func writeJSON(w http.ResponseWriter, status int, media string, v any) {
	b, err := json.Marshal(v)
	if err != nil { // our structs can fail only if a service returns NaN
		status, media = http.StatusInternalServerError, MediaTypeProblem
		b, _ = json.Marshal(kindInternal.problem("", "the answer can't be written as JSON"))
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that went away is not our error
}
