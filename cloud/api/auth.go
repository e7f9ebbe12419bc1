package api

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
)

// maxEntry is the greatest size of a log entry in a request's body, in bytes.
const maxEntry = envelope.MaxEntry

// request is a request whose sender was checked.
type request struct {
	*app.RequestContext
	who      relay.Caller
	space    memory.SpaceID // of the route; zero if the route names none
	body     []byte
	reserved int64           // bytes reserved for the body
	holder   holder          // for whom they are reserved
	entry    *envelope.Entry // only for the founding of a space
}

type handler func(context.Context, *request) error

// The components in always must be signed. The others must be signed if the
// request has them.
var (
	always = []string{"@method", "@authority", "@path", "@query"}
	fields = []string{"content-digest", "content-range", "range", "locket-invite"}
)

// signed wraps a handler for requests that must be signed, with a body of at
// most limit bytes.
func (s *Server) signed(limit int, h handler) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		r := &request{RequestContext: c}
		defer s.releaseBody(r) // also after a panic
		err := s.step(ctx, "check", func(ctx context.Context) error { return s.check(ctx, r, limit) })
		if err == nil {
			err = s.step(ctx, "serve", func(ctx context.Context) error { return h(ctx, r) })
		}
		if err == nil {
			err = s.countAnswer(ctx, r)
		}
		if err != nil {
			s.fail(c, err)
		}
	}
}

func (s *Server) check(ctx context.Context, r *request, limit int) error {
	size, err := bodySize(r.RequestContext, limit)
	if err != nil {
		return err
	}
	if name := r.Param("space"); name != "" {
		if err := r.space.UnmarshalText([]byte(name)); err != nil || r.space.IsZero() || r.space.String() != name {
			return fmt.Errorf("space: %w", relay.ErrForbidden)
		}
	}
	m, err := s.signedPart(r.RequestContext)
	if err != nil {
		return err
	}
	sig, err := httpsig.Parse(m.Field("signature-input"), m.Field("signature"))
	if err != nil {
		return err
	}
	if err := s.window.Fresh(sig.Params); err != nil {
		return err
	}
	need := slices.Clone(always)
	for _, f := range fields {
		if len(m.Field(f)) > 0 || f == "content-digest" && size > 0 {
			need = append(need, f)
		}
	}
	if err := sig.Covers(need...); err != nil {
		return err
	}
	if err := s.known(ctx, r, m, sig, size); err != nil {
		return err
	}
	if err := s.window.Seen(sig.Params); err != nil {
		return err
	}
	if err := s.Relay.Admit(ctx, r.who, r.roomNeeded(size)); err != nil && r.entry == nil {
		return err
	}
	if err := s.window.Take(sig.Params, r.holder.account+r.holder.address); err != nil {
		return err
	}
	if err := s.checkOnce(ctx, r, sig); err != nil {
		return err
	}
	if r.entry == nil {
		if err := s.readBody(r, size); err != nil {
			return err
		}
	}
	if size == 0 {
		return nil
	}
	return httpsig.CheckDigest(m.Field("content-digest"), sha256.Sum256(r.body))
}

// roomNeeded returns how many more bytes a request with a body of size bytes would
// store, as far as its route tells. A request of a full account may then be
// refused before its body is read. For log entries it returns 0, because
// [relay.Relay.AppendLog] decides which entries need room; and so for later
// chunks of a blob, whose room was counted with the first chunk.
func (r *request) roomNeeded(size int) int64 {
	switch r.FullPath() {
	case "/v1/spaces/:space/forget", "/v1/spaces/:space/compact", "/v1/spaces/:space/log":
		return 0
	}
	if string(r.Method()) == "PUT" && !r.beginsBlob() {
		return 0
	}
	return int64(size)
}

// bodySize returns the length that the request states, before anything is read.
func bodySize(c *app.RequestContext, limit int) (int, error) {
	size := c.Request.Header.ContentLength()
	switch {
	case size == -1: // a chunked body
		return 0, errLength
	case size < 0:
		size = 0
	case size > limit:
		return 0, fmt.Errorf("body of %d bytes: %w, which is %d here", size, relay.ErrTooLarge, limit)
	}
	if size > 0 {
		if err := media(c); err != nil {
			return 0, err
		}
	}
	if limit > 0 && size == 0 {
		return 0, fmt.Errorf("body: %w: there is none", page.ErrForm)
	}
	return size, nil
}

// signedPart returns the part of a request that is signed. The path must have
// no escapes, because no route needs them.
func (s *Server) signedPart(c *app.RequestContext) (httpsig.Message, error) {
	path, query, _ := strings.Cut(string(c.Request.Header.RequestURI()), "?")
	if path != string(c.Path()) || strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune(plain, r) }) || strings.Contains(path, "..") {
		return httpsig.Message{}, fmt.Errorf("path: %w", page.ErrForm)
	}
	host := string(c.Request.Header.Host())
	if !s.answersFor(host) {
		return httpsig.Message{}, fmt.Errorf("%w: it is for another relay", httpsig.ErrForged)
	}
	return httpsig.Message{Method: string(c.Method()), Authority: host, Path: path, Query: query, Field: func(name string) []string {
		var out []string
		for _, v := range c.Request.Header.PeekAll(name) {
			out = append(out, string(v))
		}
		return out
	}}, nil
}

// answersFor reports whether a request for host is meant for this relay.
func (s *Server) answersFor(host string) bool {
	if len(s.Authorities) > 0 {
		return slices.ContainsFunc(s.Authorities, func(a string) bool { return strings.EqualFold(a, host) })
	}
	return clientaddr.LoopbackHost(host)
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_."

// known finds the caller and checks its signature. A request that names an
// unknown space, member or account costs the store a lookup, so each address
// may make only a limited number of them. Requests of known callers do not
// count.
func (s *Server) known(ctx context.Context, r *request, m httpsig.Message, sig httpsig.Signature, size int) error {
	r.holder.address = s.address(r.RequestContext)
	cold := !s.Relay.Knows(r.space) || strings.HasPrefix(sig.KeyID, "root/")
	if cold {
		if wait, ok := s.unknown.Take(r.holder.address); !ok {
			return &relay.QuotaError{What: "requests a minute without a key", Limit: s.unknown.PerMinute, Wait: wait}
		}
	}
	if err := s.identify(ctx, r, sig.KeyID, size); err != nil {
		return err
	}
	if err := sig.Verify(m, r.who.Key); err != nil {
		return err
	}
	if cold {
		s.unknown.Give(r.holder.address)
	}
	if r.entry == nil && !r.who.Removed { // a removed member counts as a stranger
		r.holder = holderOf(r.who, r.holder.address)
	}
	return nil
}

// holderOf returns for whom a caller's requests are counted.
func holderOf(c relay.Caller, address string) holder {
	h := holder{account: "account " + string(c.Account[:]), address: address}
	if !c.Root {
		h.member = "member " + string(c.Space[:]) + string(c.Member[:])
	}
	return h
}

// identify finds the caller that a key id names: "SPACE/MEMBER", or "root/KEY".
func (s *Server) identify(ctx context.Context, r *request, keyID string, size int) error {
	first, second, _ := strings.Cut(keyID, "/")
	var err error
	if first == "root" {
		var id relay.AccountID
		if n, err := hex.Decode(id[:], []byte(second[:min(len(second), 2*len(id))])); err != nil || n != len(id) || id.String() != second {
			return fmt.Errorf("keyid: %w", page.ErrForm)
		}
		r.who, err = s.Relay.Root(ctx, id)
	} else {
		var space memory.SpaceID
		var member memory.MemberID
		if space.UnmarshalText([]byte(first)) != nil || member.UnmarshalText([]byte(second)) != nil || space.String()+"/"+member.String() != keyID {
			return fmt.Errorf("keyid: %w", page.ErrForm)
		}
		if space != r.space {
			return relay.ErrForbidden
		}
		if r.FullPath() == "/v1/spaces/:space/deltas" && string(r.Method()) == "POST" {
			r.who, err = s.Relay.Sender(ctx, space, member)
		} else {
			r.who, err = s.Relay.Member(ctx, space, member)
		}
	}
	if errors.Is(err, relay.ErrForbidden) && r.FullPath() == "/v1/spaces/:space/log" && string(r.Method()) == "POST" {
		return s.founder(r, keyID, size)
	}
	return err
}

// founder takes the key of an unknown caller from the entry that founds the
// space. The root that this entry names has signed it.
func (s *Server) founder(r *request, keyID string, size int) error {
	if err := s.pace(r.RequestContext); err != nil {
		return err
	}
	if err := s.readBody(r, size); err != nil {
		return err
	}
	e, err := envelope.ParseEntry(r.body)
	if err != nil || e.Action != envelope.Found || e.Space != r.space || e.Verify(e.Root) != nil {
		return relay.ErrForbidden
	}
	r.entry, r.who = e, relay.Caller{Account: relay.AccountID(e.Root), Space: e.Space}
	switch keyID {
	case "root/" + hex.EncodeToString(e.Root):
		r.who.Root, r.who.Key = true, e.Root
	case e.Space.String() + "/" + e.Member.ID.String():
		r.who.Member, r.who.Role, r.who.Key = e.Member.ID, e.Member.Role, ed25519.PublicKey(e.Member.Key)
	default:
		return relay.ErrForbidden
	}
	return nil
}

// beginsBlob reports whether the request is the first chunk of a blob, which alone
// beginsBlob a blob.
func (r *request) beginsBlob() bool {
	start, _, err := contentRange(string(r.GetHeader("Content-Range")), r.Request.Header.ContentLength())
	return err == nil && start == 0
}

// checkOnce prevents that a request is repeated at another relay on the same store,
// or after a restart, where the window does not know it. It is used for
// requests that delete something, or that could restore what was deleted since.
// Repeating another request has no effect, and recording each append would cost
// as much as the append.
func (s *Server) checkOnce(ctx context.Context, r *request, sig httpsig.Signature) error {
	switch route := r.FullPath(); string(r.Method()) {
	case "DELETE":
	case "PUT":
		if !r.beginsBlob() {
			return nil
		}
	case "POST":
		if route != "/v1/spaces/:space/log" && route != "/v1/spaces/:space/checkpoints" && route != "/v1/spaces/:space/votes" {
			return nil
		}
	default:
		return nil
	}
	sum := sha256.Sum256([]byte(sig.KeyID + "\x00" + sig.Nonce))
	fresh, err := s.Relay.Once(ctx, [16]byte(sum[:16]), 2*httpsig.Skew)
	if err == nil && !fresh {
		err = httpsig.ErrReplayed
	}
	return err
}

// readBody reads size bytes. It reserves memory only for bytes that have come,
// so that announced bytes which never come take none.
func (s *Server) readBody(r *request, size int) error {
	stream := r.RequestBodyStream()
	for have := 0; have < size; have = len(r.body) {
		next := min(size, max(firstReserved, 2*have))
		if !s.bodies.sharesOf(r.holder).reserve(r.holder, int64(next-have)) {
			return relay.ErrBusy
		}
		r.reserved += int64(next - have)
		b := make([]byte, next)
		copy(b, r.body)
		if _, err := io.ReadFull(stream, b[have:]); err != nil {
			return fmt.Errorf("%w: %v", errBodyRead, err)
		}
		r.body = b
	}
	return nil
}

// releaseBody releases the memory that was reserved for a request.
func (s *Server) releaseBody(r *request) {
	if r.reserved > 0 {
		s.bodies.sharesOf(r.holder).release(r.holder, r.reserved)
	}
}

// countAnswer counts a large answer until it is written, because for a slow reader it stays in memory for
// minutes.
func (s *Server) countAnswer(ctx context.Context, r *request) error {
	n := len(r.Response.BodyBytes())
	if r.Response.IsBodyStream() {
		n = writePiece + 1
	}
	err := s.countUntilWritten(ctx, r.holder, n)
	if err != nil {
		r.Response.ResetBody()
	}
	return err
}

// countUntilWritten counts n bytes until the present answer is written, if they are many.
func (s *Server) countUntilWritten(ctx context.Context, of holder, n int) error {
	cn, pool := connOf(ctx), s.answers.sharesOf(of)
	if cn == nil || n <= writePiece {
		return nil
	}
	if !pool.reserve(of, int64(n)) {
		return relay.ErrBusy
	}
	cn.whenWritten(func() { pool.release(of, int64(n)) })
	return nil
}

// unsigned wraps a handler for requests without a key. It limits their number
// for each address.
func (s *Server) unsigned(limit int, h handler) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		r := &request{RequestContext: c}
		r.holder.address = s.address(c)
		defer s.releaseBody(r)
		size, err := bodySize(c, limit)
		if err == nil {
			err = s.pace(c)
		}
		if err == nil {
			err = s.readBody(r, size)
		}
		if err == nil {
			err = h(ctx, r)
		}
		if err == nil {
			err = s.countAnswer(ctx, r)
		}
		if err != nil {
			s.fail(c, err)
		}
	}
}
