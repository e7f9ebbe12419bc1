package story

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/pairing"
)

// paired lets the phone in, and asks it what the glasses know.
func (s *story) paired(ctx context.Context, st *demo.Stage) error {
	invite, err := st.Node.PairInvite(ctx)
	if err != nil {
		return err
	}
	url, code, err := pairing.ParseLink(invite.Link)
	if err != nil {
		return err
	}
	cfg, err := s.settings(st)
	if err != nil {
		return err
	}
	theirs, joined := make(chan []string, 1), make(chan error, 1)
	go func() {
		_, err := node.Join(ctx, cfg, node.JoinOptions{InitOptions: node.InitOptions{KeyFile: true}, Relay: url}, code,
			func(words []string, _ string) bool { theirs <- words; return true })
		joined <- err
	}()
	met, err := st.Node.PairWait(ctx)
	if err != nil {
		return err
	}
	if met.State != serve.PairCompare {
		return fmt.Errorf("pair: %s: %s", met.State, met.Error)
	}
	var words []string
	select {
	case words = <-theirs:
	case err := <-joined:
		return fmt.Errorf("pair: %w", err)
	}
	same := slices.Equal(words, met.Words)
	if !same {
		st.Wrong("pairing: the glasses show %v, the phone %v", met.Words, words)
	}
	if met, err = st.Node.PairConfirm(ctx, serve.ConfirmRequest{Same: same, Code: met.Code}); err != nil {
		return err
	}
	if err := <-joined; err != nil {
		return err
	}
	if s.phone, err = node.Open(cfg, node.Options{Log: s.log, Cache: s.cache}); err != nil {
		return err
	}
	if _, err := s.phone.UnlockAsConfigured(ctx); err != nil {
		return err
	}
	question := st.Day.Expect.Questions[0].Question
	here, err := ask(ctx, st.Node, question)
	if err != nil {
		return err
	}
	there, err := s.catchUp(ctx, st.Node, question)
	if err != nil {
		return err
	}
	if there != here {
		st.Wrong("phone: it answers %q to %q, the glasses %q", there, question, here)
	}
	count, err := memories(ctx, s.phone)
	if err != nil {
		return err
	}
	return st.Say("phone", "A phone is let in", struct {
		Words    []string `json:"words"`
		Memories int      `json:"memories"`
		Question string   `json:"question"`
		Answer   string   `json:"answer"`
	}{met.Words, count, question, there},
		fmt.Sprintf("Both show the same words: %s.", strings.Join(words, " ")),
		fmt.Sprintf("It took %d memories from the relay, and answers as the glasses do:", count),
		question, "  → "+there)
}

// catchUp syncs the phone until it knows as much as the glasses, and asks it.
func (s *story) catchUp(ctx context.Context, glasses *node.Node, question string) (string, error) {
	want, err := memories(ctx, glasses)
	if err != nil {
		return "", err
	}
	for {
		status, err := s.phone.SyncNow(ctx)
		if err != nil {
			return "", err
		}
		have, err := memories(ctx, s.phone)
		if err != nil {
			return "", err
		}
		if have >= want {
			return ask(ctx, s.phone, question)
		}
		if !wait.For(ctx, poll) {
			return "", fmt.Errorf("phone: %d of %d memories came: %s", have, want, status.Error)
		}
	}
}

// memories counts the memories that are synced: the vault stays on its device.
func memories(ctx context.Context, n *node.Node) (int, error) {
	s, err := n.Status(ctx)
	total := 0
	for t, k := range s.Memories {
		if t != "vault" {
			total += k
		}
	}
	return total, err
}

func ask(ctx context.Context, n *node.Node, question string) (string, error) {
	res, err := n.Search(ctx, serve.SearchRequest{Query: question, K: 1})
	if err != nil || len(res.Hits) == 0 {
		return "", err
	}
	return res.Hits[0].Text, nil
}
