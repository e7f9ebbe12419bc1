package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/memory"
)

// keptPhrase is the file of a kept house with the words that open its space.
const keptPhrase = "phrase"

// filledHouse is a relay that has n memories with their lines, and the words of
// the wearer that they belong to. In a folder that was filled before it is there
// already.
func filledHouse(ctx context.Context, dir string, n int) (h *house, phrase string, err error) {
	if h, err = newHouseIn(ctx, dir); err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	b, err := os.ReadFile(filepath.Join(dir, keptPhrase))
	if !errors.Is(err, fs.ErrNotExist) {
		return h, string(b), err
	}
	from, err := h.newSolo("from", nil)
	if err != nil {
		return nil, "", err
	}
	facts := makeFacts(n)
	var lines []memory.Utterance = makeLines(facts)
	if err := from.addFacts(ctx, facts, lines...); err != nil {
		return nil, "", err
	}
	if err := from.Sync(ctx); err != nil {
		return nil, "", err
	}
	return h, from.phrase, os.WriteFile(filepath.Join(dir, keptPhrase), []byte(from.phrase), 0o600)
}
