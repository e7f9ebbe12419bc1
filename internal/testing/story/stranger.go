package story

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// shared shares one kind of memory with a stranger, without the names in it, and takes it back.
func (s *story) shared(ctx context.Context, st *demo.Stage) error {
	stranger := &share.Reader{Dir: filepath.Join(s.dir, "stranger"), Log: s.log}
	key, _, err := stranger.Key()
	if err != nil {
		return err
	}
	made, err := st.Node.CreateShare(ctx, serve.ShareRequest{Types: []memory.Type{memory.Procedural}, Redact: []string{"names"}, To: []string{"a stranger=" + key}, Title: "how things are done"})
	if err != nil {
		return err
	}
	link, err := share.ParseLink(made.Link)
	if err != nil {
		return err
	}
	seen, err := stranger.Open(ctx, link)
	if err != nil {
		return err
	}
	if len(seen.Memories) != made.Memories || made.Memories == 0 {
		st.Wrong("share: %d memories were shared, the stranger sees %d", made.Memories, len(seen.Memories))
	}
	var texts, lines []string
	for _, m := range seen.Memories {
		texts = append(texts, m.Text)
		lines = append(lines, fmt.Sprintf("A stranger with the link and a key of their own sees: %q", cut(m.Text, 80)))
		if strings.Contains(m.Text, st.Day.Wearer) || len(m.Evidence) > 0 && m.Evidence[0].Excerpt != "" {
			st.Wrong("share: what the stranger sees names the wearer or quotes them")
		}
	}
	if _, err := st.Node.RevokeShare(ctx, made.ID.String(), ""); err != nil {
		return err
	}
	after, err := stranger.Open(ctx, link)
	if !errors.Is(err, share.ErrNotShared) {
		st.Wrong("share: revoked, and the relay still serves it: %d memories, %v", len(after.Memories), err)
	}
	kept, err := stranger.ReadKept(ctx, link)
	if err != nil {
		return err
	}
	lines = append(lines, "Revoked: the relay serves the stranger nothing any more.",
		fmt.Sprintf("What can't be had back: %d that the stranger had fetched already.", len(kept.Memories)))
	return st.Say("share", "One thing is shared, and then not any more", struct {
		Seen    []string `json:"seen"`
		Revoked bool     `json:"revoked"`
		Kept    int      `json:"kept"`
	}{texts, true, len(kept.Memories)}, lines...)
}
