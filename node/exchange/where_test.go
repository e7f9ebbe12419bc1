package exchange

import (
	"testing"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
)

func TestWhoHoldsABlob(t *testing.T) {
	const url = "https://relay.example"
	given, not := map[string]bool{url: true}, map[string]bool{}
	for name, c := range map[string]struct {
		relay serve.Relay
		waits int
		blob  blobAt
		want  serve.Holds
	}{
		"words":                           {want: serve.HoldsAll},
		"words that wait":                 {waits: 1, want: serve.HoldsPart},
		"something waits":                 {relay: serve.Relay{Lacks: 1}, want: serve.HoldsUnknown},
		"a fork":                          {relay: serve.Relay{Trouble: []string{"fork"}}, want: serve.HoldsUnknown},
		"the last round failed":           {relay: serve.Relay{Error: "refused"}, want: serve.HoldsUnknown},
		"a photo that was given":          {blob: blobAt{exists: true, remotes: given, sealedHere: true}, want: serve.HoldsAll},
		"a photo that waits":              {blob: blobAt{exists: true, remotes: not, sealedHere: true}, want: serve.HoldsPart},
		"a photo of another device":       {blob: blobAt{exists: true, remotes: not}, want: serve.HoldsUnknown},
		"a photo, and there is one relay": {blob: blobAt{exists: true}, want: serve.HoldsAll},
		"a photo that a peer may ask for": {relay: serve.Relay{Kind: serve.RelayPeer}, blob: blobAt{exists: true, remotes: not, sealedHere: true}, want: serve.HoldsUnknown},
	} {
		c.relay.URL = url
		if got := holdsOf(&c.relay, c.waits, &c.blob); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Workers and readers are members, but not devices of the wearer.
func TestOnlyDevicesAmongMembers(t *testing.T) {
	for role, want := range map[envelope.Role]bool{envelope.Owner: true, envelope.Writer: true, envelope.Extractor: false, envelope.Reader: false} {
		if got := isDevice(&serve.Member{Role: role.String()}); got != want {
			t.Errorf("%s: %t", role, got)
		}
	}
}
