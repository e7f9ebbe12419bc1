package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote/page"
)

func (s *Server) putBlob(ctx context.Context, r *request) error {
	id, err := relay.ParseBlobID(r.Param("id"))
	if err != nil {
		return err
	}
	start, size, err := contentRange(string(r.GetHeader("Content-Range")), len(r.body))
	if err != nil {
		return err
	}
	b, err := s.Relay.WriteBlob(ctx, r.who, r.space, id, size, start, r.body)
	if err == nil || errors.Is(err, relay.ErrOffset) {
		r.blob(b)
	}
	if err == nil {
		r.SetStatusCode(204)
		if b.Done {
			r.SetStatusCode(201)
		}
	}
	return err
}

// contentRange parses "bytes FIRST-LAST/SIZE" for a body of n bytes.
func contentRange(field string, n int) (start, size int64, err error) {
	fail := fmt.Errorf("content-range %q: %w", field, page.ErrForm)
	spec, ok := strings.CutPrefix(field, "bytes ")
	span, whole, ok2 := strings.Cut(spec, "/")
	first, last, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return 0, 0, fail
	}
	start, err1 := number(first)
	end, err2 := number(last)
	size, err3 := number(whole)
	if errors.Join(err1, err2, err3) != nil || end < start || end-start != int64(n)-1 || end >= size {
		return 0, 0, fail
	}
	return start, size, nil
}

// number parses a number that has only digits.
func number(s string) (int64, error) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64)
}

// blob answers how much of a blob is stored. If all chunks are stored but not
// joined yet, the answer says that one byte is missing. The client then sends
// the end again, which makes the relay join the chunks, and does not believe
// too early that the blob is stored.
func (r *request) blob(b relay.Blob) {
	if b.Offset == b.Size && !b.Done {
		b.Offset--
	}
	r.Header(page.FieldOffset, strconv.FormatInt(b.Offset, 10))
	r.Header(page.FieldLength, strconv.FormatInt(b.Size, 10))
}

func (s *Server) headBlob(ctx context.Context, r *request) error {
	id, err := relay.ParseBlobID(r.Param("id"))
	if err != nil {
		return err
	}
	b, err := s.Relay.Blob(ctx, r.who, r.space, id)
	if err != nil {
		return err
	}
	r.blob(b)
	return nil
}

func (s *Server) getBlob(ctx context.Context, r *request) error {
	id, err := relay.ParseBlobID(r.Param("id"))
	if err != nil {
		return err
	}
	f, size, err := s.Relay.OpenBlob(ctx, r.who, r.space, id)
	if err != nil {
		return err
	}
	first, last, partial, err := wanted(string(r.GetHeader("Range")), size)
	if err == nil {
		_, err = f.Seek(first, io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if partial {
		r.SetStatusCode(206)
		r.Header("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, size))
	}
	r.SetContentType(page.Bytes)
	r.SetBodyStream(&span{Reader: io.LimitReader(f, last-first+1), Closer: f}, int(last-first+1))
	return nil
}

// span is a part of a file. Closing it closes the file.
type span struct {
	io.Reader
	io.Closer
}

// wanted parses "bytes=FIRST-" or "bytes=FIRST-LAST". The field may be absent.
// Other forms of RFC 9110 are refused.
func wanted(field string, size int64) (first, last int64, partial bool, err error) {
	if field == "" {
		return 0, size - 1, false, nil
	}
	spec, ok := strings.CutPrefix(field, "bytes=")
	from, to, ok2 := strings.Cut(spec, "-")
	first, err = number(from)
	last = size - 1
	if err == nil && to != "" {
		last, err = number(to)
		last = min(last, size-1)
	}
	if !ok || !ok2 || err != nil || first > last {
		return 0, 0, false, fmt.Errorf("range %q of %d bytes: %w", field, size, errRange)
	}
	return first, last, true, nil
}

// cursor returns the cursor in the query, or nil if there is none.
func (r *request) cursor() (*uint64, error) {
	text, ok := r.GetQuery("cursor")
	if !ok {
		return nil, nil
	}
	n, err := number(text)
	if err != nil {
		return nil, fmt.Errorf("cursor: %w: want a number up to %d", page.ErrForm, uint64(1<<63-1))
	}
	at := uint64(n)
	return &at, nil
}

func (s *Server) deleteBlob(ctx context.Context, r *request) error {
	id, err := relay.ParseBlobID(r.Param("id"))
	if err != nil {
		return err
	}
	at, err := r.cursor()
	if err != nil {
		return err
	}
	return r.empty(s.Relay.DeleteBlob(ctx, r.who, r.space, id, at))
}
