//go:build linux

package powerloss

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	daemon "github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/plugins"
)

func init() { replays["day"] = replayDay }

// daySeed and dayLines define the generated day for a node.
const (
	daySeed  = 2001
	dayLines = 8
)

// dayCuts is how many cuts are opened without -every: each is a complete node.
const dayCuts = 4

func dayConfig(root string) (config.Config, error) {
	all, err := plugins.All()
	if err != nil {
		return config.Config{}, err
	}
	c := config.Config{Home: filepath.Join(root, "home"), Wearer: "Maja", Zone: "Europe/Berlin"}
	for _, p := range all { // lines are stored unchanged: the plugins' results don't concern the disk
		c.Plugins.Disabled = append(c.Plugins.Disabled, p.Manifest.ID)
	}
	c.Defaults()
	c.Disk.Reserve = 1 << 20
	return c, nil
}

// dayTexts returns the first lines of the day that are text.
func dayTexts() ([]string, error) {
	d, err := day.Generate(daySeed)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range d.Lines {
		if l.Text != "" && len(out) < dayLines {
			out = append(out, l.Text)
		}
	}
	return out, nil
}

func openNode(root string) (*daemon.Node, error) {
	cfg, err := dayConfig(root)
	if err != nil {
		return nil, err
	}
	n, err := daemon.Open(cfg, daemon.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if ok, err := n.UnlockAsConfigured(context.Background()); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("unlocked: %v", ok), err, n.Close())
	}
	return n, nil
}

// replayDay makes a home, and has its node hear a day, with a restart in between.
func replayDay(root string, ack func(string) error) error {
	cfg, err := dayConfig(root)
	if err != nil {
		return err
	}
	if _, err := daemon.Init(cfg, daemon.InitOptions{KeyFile: true}); err != nil {
		return err
	}
	texts, err := dayTexts()
	if err != nil {
		return err
	}
	for first, half := range [][]string{texts[:dayLines/2], texts[dayLines/2:]} {
		n, err := openNode(root)
		if err != nil {
			return err
		}
		for i, text := range half {
			if _, err := n.Add(context.Background(), serve.AddRequest{Text: text, Infer: new(bool)}); err != nil {
				return errors.Join(err, n.Close())
			}
			if err := ack(strconv.Itoa(first*dayLines/2 + i)); err != nil {
				return errors.Join(err, n.Close())
			}
		}
		if err := n.Close(); err != nil {
			return err
		}
	}
	return nil
}

// A node hears a generated day and loses power at any sync. It opens again and has every line that
// it had acknowledged.
func TestDay(t *testing.T) {
	texts, err := dayTexts()
	if err != nil || len(texts) != dayLines {
		t.Fatalf("%d lines, %v", len(texts), err)
	}
	cuts := replay(t, "day", true)
	// Before the first line is acknowledged there may be no home yet: files_test.go covers that.
	cuts = slices.DeleteFunc(cuts, func(c cut) bool { return len(c.acks) == 0 })
	openSome(t, cuts, dayCuts, func(dir string, acks []string) error {
		n, err := openNode(dir)
		if err != nil {
			return err
		}
		page, err := n.List(t.Context(), serve.ListQuery{State: "all", Limit: 100})
		for _, a := range acks {
			i, convErr := strconv.Atoi(a)
			if convErr != nil {
				return errors.Join(convErr, n.Close())
			}
			if !slices.ContainsFunc(page.Memories, func(m memory.Memory) bool { return m.Text == texts[i] }) {
				err = errors.Join(err, fmt.Errorf("line %d was acknowledged, and is not remembered: %q", i, texts[i]))
			}
		}
		if len(page.Memories) > 0 && err == nil {
			_, err = n.Add(t.Context(), serve.AddRequest{Text: "It goes on.", Infer: new(bool)})
		}
		return errors.Join(err, n.Close())
	})
}
