package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote/page"
)

func (r *request) mailbox() (relay.MailboxID, error) {
	var id relay.MailboxID
	name := r.Param("id")
	if len(name) != hex.EncodedLen(len(id)) {
		return id, fmt.Errorf("mailbox: %w: want 32 hexadecimal characters", page.ErrForm)
	}
	if _, err := hex.Decode(id[:], []byte(name)); err != nil || hex.EncodeToString(id[:]) != name {
		return id, fmt.Errorf("mailbox: %w: want 32 hexadecimal characters in lower case", page.ErrForm)
	}
	return id, nil
}

func (s *Server) post(ctx context.Context, r *request) error {
	id, err := r.mailbox()
	if err != nil {
		return err
	}
	if wait, ok := s.messages.Take(r.holder.address); !ok {
		return &relay.QuotaError{What: "messages of an address", Limit: s.MessagesPerAddress, Wait: wait}
	}
	n, err := s.Relay.Post(ctx, id, r.body)
	if err != nil {
		return err
	}
	r.Header(page.FieldNumber, strconv.Itoa(n))
	r.SetStatusCode(201)
	return nil
}

// message waits for the message after number "after" and returns it. If none
// comes in time, the answer is empty.
func (s *Server) message(ctx context.Context, r *request) error {
	id, err := r.mailbox()
	if err != nil {
		return err
	}
	after, _, wait, err := r.paging()
	if err != nil {
		return err
	}
	if after >= relay.MaxMessages {
		return fmt.Errorf("after %d: %w", after, relay.ErrNotFound)
	}
	woken, leave, err := s.Relay.Mail().Listen(id, r.holder.address)
	if err != nil {
		return err
	}
	defer leave()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		b, err := s.Relay.Message(ctx, id, int(after)+1)
		if err == nil {
			r.Header(page.FieldNumber, strconv.FormatUint(after+1, 10))
			r.SetContentType(page.Bytes)
			r.Response.SetBody(b)
			return nil
		}
		if !errors.Is(err, relay.ErrNotFound) {
			return err
		}
		if wait > 0 {
			select {
			case <-woken:
				continue
			case <-timer.C:
			case <-s.draining:
			}
		}
		return r.empty(nil)
	}
}
