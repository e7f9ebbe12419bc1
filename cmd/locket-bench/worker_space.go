package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/locket-dev/locket/cloud/worker"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cmd/locket-bench/pictures"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/replica"
)

// These cases run a worker in a space, over a real relay. They measure what is stored for the
// photos that it reads, and how soon that is gone when its grant ends.

// grantees is an owner's replica that grants access to workers.
type grantees struct {
	h     *house
	cache string // of compiled plugins
	owner *solo
	made  int // events
}

func newGrantees(ctx context.Context, cache string) (*grantees, error) {
	h, err := newHouse(ctx)
	if err != nil {
		return nil, err
	}
	owner, err := h.newSolo("owner", nil)
	if err == nil {
		err = owner.Sync(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &grantees{h: h, cache: cache, owner: owner}, nil
}

// grantWorker makes a worker's home, and grants it access.
func (g *grantees) grantWorker(ctx context.Context, name string) (home string, member memory.MemberID, err error) {
	home = filepath.Join(g.h.dir, name)
	request, err := worker.InviteKey(home)
	if err != nil {
		return "", member, err
	}
	r, err := envelope.ParseRequest(request)
	if err != nil {
		return "", member, err
	}
	space := g.owner.ring.Space()
	member = r.Member(space)
	status, err := g.owner.Status(ctx)
	if err != nil {
		return "", member, err
	}
	key, _ := soloKeys{g.owner.ring}.Epoch(status.Epoch)
	grant := delta.Grant{Types: []memory.Type{memory.Resource}, Transcribe: true}
	err = g.owner.AddMember(ctx, envelope.Member{ID: member, Key: r.Key, Recipient: r.Recipient, Role: envelope.Extractor,
		Grant: replica.SealGrant(grant, space, member, status.Epoch, key)}, name)
	if err != nil {
		return "", member, err
	}
	genesis, err := membership.Genesis(g.owner.ring.Locked)
	if err != nil {
		return "", member, err
	}
	first, err := envelope.ParseEntry(genesis)
	if err != nil {
		return "", member, err
	}
	_, err = worker.Join(ctx, home, g.h.url, envelope.Welcome{Space: space, Genesis: first.Hash()}.String())
	return home, member, err
}

// photo adds a photo, and sends it.
func (g *grantees) photo(ctx context.Context, data []byte) error {
	g.made++
	at := time.Now().Add(-time.Hour).Add(time.Duration(g.made) * time.Second)
	ev := memory.EventID{Device: "glasses", Boot: 1, Seq: uint64(g.made)}
	id := memory.DeriveID([]byte("bench"), ev, "scene", "photo")
	st := g.owner.store
	b, err := st.WriteBlob(ctx, bytes.NewReader(data))
	if err != nil {
		return err
	}
	c := memory.Candidate{Type: memory.Resource, Text: "Photo " + ev.String(), Owner: memory.Owner{User: "wearer"}, Confidence: 1, Sensitivity: memory.Private,
		Evidence: []memory.Evidence{{Event: ev, At: at}}, TrueFrom: at, Source: memory.Source{Device: "glasses", Plugin: "scene"},
		Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "Photo", MediaType: "image/jpeg", Blob: b.ID.String()}}}
	err = st.Update(ctx, func(tx *store.Tx) error {
		dot, err := tx.NextDot(g.owner.ring.Member())
		if err != nil {
			return err
		}
		_, err = tx.Assert(memory.Assertion{Dot: dot, Clock: memory.Clock{Wall: at.UnixMilli()}, Rank: memory.RankDevice, Space: g.owner.ring.Space(), Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
		if err != nil {
			return err
		}
		return tx.KeepBlob(b, id)
	})
	if err != nil {
		return err
	}
	return g.owner.Sync(ctx)
}

// running lets a worker work until stop.
func running(ctx context.Context, c worker.Config) (w *worker.Worker, stop func() error, err error) {
	if w, err = worker.Open(ctx, c); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return w, func() error { cancel(); return errors.Join(<-ended, w.Close()) }, nil
}

// jobsAre waits until the jobs of a worker are as expected.
func jobsAre(ctx context.Context, w *worker.Worker, are func([]queue.Job) bool) error {
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		jobs, err := w.Queue().List(ctx, queue.Filter{Kind: queue.Read})
		if err != nil || are(jobs) {
			tick.Stop()
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// framesStored lets a worker read pages, each of which a wearable saw three times, and measures
// what is stored for each frame.
func framesStored(ctx context.Context, cache string, pages int) (res result, err error) {
	g, err := newGrantees(ctx, cache)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, g.h.Close()) }()
	scenes, err := pictures.Scenes((pages+2)/3, 7)
	if err != nil {
		return res, err
	}
	scenes = slices.DeleteFunc(scenes, func(s pictures.Scene) bool { return s.Name == s.Family }) // the day's photos have no print
	frames, seen := 0, 0
	for _, s := range scenes[:min(pages, len(scenes))] {
		for quality := 90; quality > 60; quality -= 10 {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, s.Gray, &jpeg.Options{Quality: quality}); err != nil {
				return res, err
			}
			frames, seen = frames+1, seen+b.Len()
			if err := g.photo(ctx, b.Bytes()); err != nil {
				return res, err
			}
		}
	}
	member, err := g.read(ctx, frames)
	if err != nil {
		return res, err
	}
	stored, said, err := g.saidBy(ctx, member)
	if err != nil {
		return res, err
	}
	if said == 0 {
		return res, errors.New("the worker said nothing of the photos")
	}
	return result{Suite: "worker", Case: "stored_per_frame", N: frames, Value: round(float64(stored) / float64(frames)), Unit: "B",
		Note: fmt.Sprintf("%d pages, each seen three times, %.0f KB in all; %d assertions of %d B. MIRIX: 15.89 MB for its screenshot benchmark", min(pages, len(scenes)), float64(seen)/1e3, said, stored)}, nil
}

// saidBy returns how many assertions of a member the owner has, and their size as sent.
func (g *grantees) saidBy(ctx context.Context, member memory.MemberID) (stored, said int, err error) {
	err = g.owner.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			as, err := tx.Assertions(m.ID)
			if err != nil {
				return err
			}
			for i := range as {
				if as[i].Dot.Member != member {
					continue
				}
				b, err := delta.Encode(envelope.Header{Space: g.owner.ring.Space(), Member: member}, []delta.Op{{Assertion: &as[i]}})
				if err != nil {
					return err
				}
				stored, said = stored+len(b), said+1
			}
		}
		return nil
	})
	return stored, said, err
}

// revoked ends grants while a program is working on a photo, and measures how long the worker's
// keys and data stay.
func revoked(ctx context.Context, cache string, rounds int) (res []result, err error) {
	g, err := newGrantees(ctx, cache)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.h.Close()) }()
	var photo bytes.Buffer
	err = jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 48)), nil)
	if err == nil {
		err = g.photo(ctx, photo.Bytes())
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(g.h.dir, "programs")
	script := "#!/bin/sh\ncase \"$1\" in --list-langs) echo eng;; *) sleep 100000;; esac\n"
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(path, "tesseract"), []byte(script), 0o700); err != nil {
		return nil, err
	}
	var took []time.Duration
	for i := range rounds {
		home, member, err := g.grantWorker(ctx, fmt.Sprintf("worker-%d", i))
		if err != nil {
			return nil, err
		}
		e := worker.Engines{Speech: "none", Path: path}
		e.Limits.Wall = time.Hour
		w, stop, err := running(ctx, worker.Config{Home: home, Cache: g.cache, Engines: e})
		if err != nil {
			return nil, err
		}
		err = jobsAre(ctx, w, func(jobs []queue.Job) bool { return len(jobs) == 1 && jobs[0].State == queue.Busy })
		began := time.Now()
		if err == nil {
			err = g.owner.RemoveMember(ctx, member, nil)
		}
		for left := 1; err == nil && left > 0; time.Sleep(time.Millisecond) {
			var list []os.DirEntry
			list, err = os.ReadDir(filepath.Join(home, "spaces"))
			left = len(list)
			if err == nil {
				err = ctx.Err()
			}
		}
		took = append(took, time.Since(began))
		if err := errors.Join(err, stop()); err != nil {
			return nil, err
		}
	}
	slices.Sort(took)
	at := func(of float64) float64 {
		return round(float64(took[min(len(took)-1, int(of*float64(len(took))))]) / 1e6)
	}
	note := "from the owner's removal to no key and no byte of the space, a program in its midst"
	return []result{{Suite: "worker", Case: "revoke_p50", N: rounds, Value: at(.5), Unit: "ms", Note: note}, {Suite: "worker", Case: "revoke_p99", N: rounds, Value: at(.99), Unit: "ms", Note: "at most 5,000"}}, nil
}
