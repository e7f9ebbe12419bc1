package upstream

import (
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A relay that makes up entries of a log without end is asked for only one page: the caller finds
// the lie before more of it is in memory.
func TestEndlessLogIsBounded(t *testing.T) {
	space, asked := memory.SpaceID{1}, 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
		if err != nil {
			t.Error(err)
		}
		var items [][]byte
		for n := range uint64(page.MaxEntries) {
			e := envelope.Entry{Version: envelope.Version, Space: space, N: after + n + 1, Prev: envelope.Hash{1}, Author: memory.MemberID{1}, Action: envelope.Rekey,
				Epoch: 2, Wraps: []envelope.Wrap{{To: memory.MemberID{1}, Keys: []byte("keys")}}, Signature: make([]byte, ed25519.SignatureSize)}
			items = append(items, e.Bytes())
		}
		w.Write(page.EncodeItems(items))
	}))
	defer web.Close()
	r, err := remote.New(web.URL, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := New(r.Space(space, memory.MemberID{1}, httpsig.KeySigner(key)), "")
	got, err := at.Log(t.Context(), 7)
	if err != nil || len(got) != page.MaxEntries || asked != 1 {
		t.Errorf("%d entries in %d answers: %v", len(got), asked, err)
	}
}
