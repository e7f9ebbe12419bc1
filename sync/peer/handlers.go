package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/replica"
)

func (s *Server) log(w http.ResponseWriter, r *http.Request, who envelope.Member, _ []byte) error {
	n, err := after(r)
	if err != nil {
		return err
	}
	entries, err := s.Envelopes.Log(r.Context(), n)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		defer s.noteRead(who.ID)
	}
	return write(w, page.EncodeItems(entries[:min(len(entries), page.MaxEntries)]))
}

func (s *Server) appendLog(w http.ResponseWriter, _ *http.Request, who envelope.Member, body []byte) error {
	if who.Role != envelope.Owner {
		return errForbidden
	}
	e, err := envelope.ParseEntry(body)
	if err != nil {
		return err
	}
	err = s.Envelopes.TakeEntry(e)
	var fork *envelope.ForkError
	if errors.As(err, &fork) || errors.Is(err, envelope.ErrGap) {
		return fmt.Errorf("%w: %w", replica.ErrConflict, err)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func (s *Server) deltas(w http.ResponseWriter, r *http.Request, _ envelope.Member, _ []byte) error {
	n, err := after(r)
	if err != nil {
		return err
	}
	placed, err := s.Envelopes.Deltas(r.Context(), n)
	if err != nil {
		return err
	}
	out := make([]page.Placed, len(placed))
	for i, p := range placed {
		out[i] = page.Placed{Cursor: p.Cursor, Delta: p.Delta}
	}
	return write(w, page.EncodePlaced(out))
}

// appendDeltas takes the deltas that a member brings, whoever made them. It
// returns the same cursor for all, because this store's cursors mean nothing to
// other devices.
func (s *Server) appendDeltas(w http.ResponseWriter, _ *http.Request, who envelope.Member, body []byte) error {
	items, err := page.DecodeItems(body, page.MaxDeltas)
	if err != nil {
		return err
	}
	cursors := make([]uint64, len(items))
	for i, item := range items {
		d, err := envelope.ParseDelta(item)
		if err != nil {
			return err
		}
		if d.Header.Member != who.ID && who.Role != envelope.Owner {
			return errForbidden
		}
		if _, err := s.Envelopes.TakeDelta(d); err != nil {
			return err
		}
		cursors[i] = uint64(i) + 1
	}
	return write(w, page.EncodeCursors(cursors))
}

// forget removes bodies of the caller's own deltas.
func (s *Server) forget(w http.ResponseWriter, r *http.Request, who envelope.Member, body []byte) error {
	asked, err := page.DecodeRefs(body)
	if err != nil {
		return err
	}
	refs := make([]replica.Ref, len(asked))
	for i, a := range asked {
		if a.Member != who.ID {
			return errForbidden
		}
		refs[i] = replica.Ref{Member: a.Member, Position: envelope.Position{Incarnation: a.Incarnation, Seq: a.Seq}}
	}
	if err := s.Envelopes.Forget(r.Context(), refs); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(map[string]int{"forgotten": len(refs)})
}

// events sends the store's position, at once and after each change.
func (s *Server) events(w http.ResponseWriter, r *http.Request, who envelope.Member, _ []byte) error {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(beat)
	defer tick.Stop()
	lastSent := page.Head{}
	for first := true; ; first = false {
		changed := s.Envelopes.Changed()
		log, cursor := s.Envelopes.Position()
		text := ": here\n\n"
		if now := (page.Head{Cursor: cursor, Log: log}); first || now != lastSent {
			b, err := json.Marshal(now)
			if err != nil {
				return err
			}
			lastSent, text = now, "event: head\ndata: "+string(b)+"\n\n"
		}
		if _, err := io.WriteString(w, text); err != nil || out.Flush() != nil {
			return nil // the client left
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-changed:
		case <-tick.C:
		}
		if !s.belongs(who.ID) {
			io.WriteString(w, "event: gone\ndata:\n\n")
			return nil
		}
	}
}

func (s *Server) belongs(id memory.MemberID) bool {
	return slices.ContainsFunc(s.Envelopes.Members(), func(m envelope.Member) bool { return m.ID == id })
}

func (s *Server) blob(w http.ResponseWriter, r *http.Request, _ envelope.Member, _ []byte) error {
	var id envelope.Hash
	if err := id.UnmarshalText([]byte(r.PathValue("id"))); err != nil {
		return err
	}
	f, size, err := s.Envelopes.OpenBlob(id)
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set(page.FieldOffset, strconv.FormatInt(size, 10))
	w.Header().Set(page.FieldLength, strconv.FormatInt(size, 10))
	w.Header().Set("Content-Type", page.Bytes)
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}
