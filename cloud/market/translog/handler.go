package translog

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/sync/translog"
)

// Handler serves the log to anybody; nothing in it is secret. The first three routes are those of
// c2sp.org/tlog-tiles.
//
//	GET /checkpoint                    the signed checkpoint
//	GET /tile/LEVEL/INDEX[.p/WIDTH]    hashes
//	GET /tile/entries/INDEX[.p/WIDTH]  entries, each behind its length in 2 bytes
//	GET /inclusion/N                   [translog.Inclusion] of entry N
//	GET /consistency/N         proof that the checkpoint begins with N entries
//	GET /find?subject=ID&skip=N        the places of the entries of a subject, after the first N
func (l *Log) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /checkpoint", func(w http.ResponseWriter, r *http.Request) {
		s, err := l.Checkpoint(r.Context())
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(s.Note)
	})
	m.HandleFunc("GET /tile/{level}/{index...}", func(w http.ResponseWriter, r *http.Request) {
		// The addresses are those of x/mod, which name the height before the level.
		of, entries := "tile/8/"+r.PathValue("level")+"/"+r.PathValue("index"), r.PathValue("level") == "entries"
		if entries {
			of = "tile/8/0/" + r.PathValue("index")
		}
		t, err := tlog.ParseTilePath(of)
		if err != nil {
			refuse(w, ErrNone)
			return
		}
		var data []byte
		if entries {
			data, err = l.bundle(r, t)
		} else {
			data, err = l.Tile(r.Context(), t)
		}
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(data)
	})
	m.HandleFunc("GET /inclusion/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, ok := number(w, r.PathValue("n"))
		if !ok {
			return
		}
		p, err := l.inclusion(r.Context(), n)
		answer(w, p, err)
	})
	m.HandleFunc("GET /consistency/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, ok := number(w, r.PathValue("n"))
		if !ok {
			return
		}
		p, s, err := l.Consistency(r.Context(), n)
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, translog.Consistency{From: n, Checkpoint: string(s.Note), Proof: translog.Lines(p)}, nil)
	})
	m.HandleFunc("GET /find", func(w http.ResponseWriter, r *http.Request) {
		skip, err := strconv.ParseUint(cmp.Or(r.URL.Query().Get("skip"), "0"), 10, 32)
		if err != nil {
			problem(w, http.StatusBadRequest, "want a number of places to skip")
			return
		}
		all, err := l.Find(r.Context(), r.URL.Query().Get("subject"), uint32(skip))
		if all == nil {
			all = []int64{}
		}
		answer(w, map[string][]int64{"places": all}, err)
	})
	return m
}

// bundle returns the entries of a tile.
func (l *Log) bundle(r *http.Request, t tlog.Tile) ([]byte, error) {
	all, err := l.Entries(r.Context(), t.N<<t.H, t.W)
	if err != nil {
		return nil, err
	}
	if len(all) < t.W {
		return nil, ErrNone
	}
	var data []byte
	for _, e := range all {
		data = append(binary.BigEndian.AppendUint16(data, uint16(len(e))), e...)
	}
	return data, nil
}

func number(w http.ResponseWriter, s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strings.HasPrefix(s, "+") {
		problem(w, http.StatusBadRequest, "want a number of entries")
		return 0, false
	}
	return n, true
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	raw, err := json.Marshal(v)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(raw, '\n'))
}

func refuse(w http.ResponseWriter, err error) {
	if errors.Is(err, ErrNone) {
		problem(w, http.StatusNotFound, "the log does not have this")
		return
	}
	problem(w, http.StatusInternalServerError, "the log can't be read")
}

// problem answers in the form of RFC 9457.
func problem(w http.ResponseWriter, status int, title string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": title, "status": status}) // the client may be gone
}
