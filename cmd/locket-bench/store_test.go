package main

import (
	"path/filepath"
	"testing"
)

func TestStoreSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "store", "--ones", "5", "--batches", "2", "--size", "10", "--rounds", "1", "--dir", t.TempDir(), "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "store", stdout)
	for _, name := range []string{"add_one", "add_batch"} {
		if r := got[name]; r.Value <= 0 || r.Peer == "" || r.Ratio <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
		for _, k := range keepers[1:] {
			if r := got[name+"_"+k]; r.Value <= 0 || r.Peer != "" {
				t.Errorf("%s_%s: %+v", name, k, r)
			}
		}
	}
	if got["add_batch"].N != 20 || got["fsync"].Value <= 0 {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"store", "--size", "201"}, {"store", "--rounds", "0"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}

// What a store was given is on disk after it was closed.
func TestStoresPersist(t *testing.T) {
	facts := makeFacts(3)
	for _, name := range keepers {
		dir := filepath.Join(t.TempDir(), name)
		k, err := newKeeper(name, dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := k.add(t.Context(), facts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := k.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		n, err := folderBytes(dir)
		if err != nil || n < 500 {
			t.Errorf("%s left %d bytes, %v", name, n, err)
		}
	}
	if _, err := newKeeper("shoebox", t.TempDir()); err == nil {
		t.Error("newKeeper made a store of an unknown name")
	}
}
