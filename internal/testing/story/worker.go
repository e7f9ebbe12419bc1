package story

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/cloud/worker"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// helped lets a worker in, for the recordings and photos that are not near a secret, and shows what
// it made of sound and text.
func (s *story) helped(ctx context.Context, st *demo.Stage) (err error) {
	home := filepath.Join(s.dir, "worker")
	found, err := worker.Detect(ctx, worker.Engines{})
	if err != nil {
		return err
	}
	key, err := worker.InviteKey(home)
	if err != nil {
		return err
	}
	grant, err := st.Node.AddGrant(ctx, serve.GrantRequest{Key: key, Name: "the PC at home", Types: []memory.Type{memory.Resource}, Transcribe: true, Feed: true, Recordings: true})
	if err != nil {
		return err
	}
	if _, err := worker.Join(ctx, home, grant.Relay, grant.Welcome); err != nil {
		return err
	}
	added, err := s.work(ctx, st, home, found)
	if err != nil {
		return err
	}
	if _, err := st.Node.RevokeGrant(ctx, grant.Member.String()); err != nil {
		return err
	}
	lines := []string{"It was let in to recordings and photos alone, and to none that lies near a secret."}
	for _, f := range found {
		if !f.Present && f.Kind != queue.Language { // it was not let in for words
			lines = append(lines, fmt.Sprintf("%s: no engine here, so this waits. %s", f.Kind, f.Need))
		}
	}
	texts := []string{}
	for _, m := range added {
		text := strings.Join(strings.Fields(m.Text+" "+m.Fields.Resource.Content), " ")
		texts = append(texts, text)
		lines = append(lines, fmt.Sprintf("by %s: %q", m.Source.Model, cut(text, 96)))
	}
	lines = append(lines, "Then the grant was revoked: it gets nothing more, and has destroyed its keys.")
	return st.Say("worker", "A worker hears and reads, where it was let in", struct {
		Engines []worker.EngineState `json:"engines"`
		Added   []string             `json:"added"`
	}{found, texts}, lines...)
}

// work runs the worker until each present engine has answered.
func (s *story) work(ctx context.Context, st *demo.Stage, home string, found []worker.EngineState) (added []memory.Memory, err error) {
	w, err := worker.Open(ctx, worker.Config{Home: home, Cache: s.cache, Log: s.log})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Run(running) }()
	defer func() {
		stop()
		if e := <-done; e != nil && !errors.Is(e, context.Canceled) {
			err = errors.Join(err, e)
		}
		err = errors.Join(err, w.Close())
	}()
	want := map[string]bool{}
	for _, f := range found {
		switch {
		case f.Present && f.Kind == queue.Transcribe:
			want[result.TagTranscript] = true
		case f.Present && f.Kind == queue.Read:
			want[result.TagPrint] = true
		}
	}
	for {
		if _, err := st.Node.TendGrants(ctx); err != nil {
			return nil, err
		}
		page, err := st.Node.List(ctx, serve.ListQuery{Type: memory.Resource, Limit: serve.MaxPage})
		if err != nil {
			return nil, err
		}
		added = slices.DeleteFunc(page.Memories, func(m memory.Memory) bool { return m.Rank != memory.RankCloud })
		slices.SortFunc(added, func(a, b memory.Memory) int { return strings.Compare(b.Source.Model, a.Source.Model) })
		missing := 0
		for tag := range want {
			if !slices.ContainsFunc(added, func(m memory.Memory) bool { return slices.Contains(m.Tags, tag) }) {
				missing++
			}
		}
		if missing == 0 {
			return added, nil
		}
		if !wait.For(ctx, poll) {
			st.Wrong("worker: %d of %d kinds of work brought nothing", missing, len(want))
			return added, nil
		}
	}
}

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
