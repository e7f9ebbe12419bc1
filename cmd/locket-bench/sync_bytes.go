package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/sample"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// lots are how many memories go together.
var lots = []struct {
	name string
	n    int
}{{"alone", 1}, {"tens", 20}, {"hundreds", 400}}

// bytesDays is from how many generated days the memories come. The dictionary was trained on days
// with other seeds.
const bytesDays = 30

// bytes compares the size of a memory in transit. zstd_json is the size of the same changes as a
// JSON array at zstd's default level, without a dictionary, padding, seal, author or place. restic
// is how much its repository grows for the same JSON, with one file per memory.
func (b *syncBench) bytes(ctx context.Context) (out []result, err error) {
	var as []memory.Assertion
	h := envelope.Header{Version: envelope.Version, Space: memory.SpaceID{1}, Member: memory.MemberID{2}, Incarnation: 3, Seq: 300,
		Prev: envelope.Hash{4}, Head: envelope.Hash{5}, Epoch: 3}
	for seed := range uint64(bytesDays) {
		d, err := day.Generate(seed + 1)
		if err != nil {
			return nil, err
		}
		ops, err := sample.Of(d, h.Space, h.Member)
		if err != nil {
			return nil, err
		}
		as = append(as, ops.Assertions...)
	}
	vault, err := openRestic(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, vault.close()) }()
	if vault == nil {
		fmt.Fprintln(b.stderr, "locket-bench sync: restic is not here, and is not compared with: apt-get install restic")
	}
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	key := seal.NewKey()
	sign := func(string, []byte) ([]byte, error) { return make([]byte, 64), nil } // as long as any
	for _, lot := range lots {
		var ours, plain, n int
		for rest := as; len(rest) >= lot.n; rest = rest[lot.n:] {
			ops := make([]delta.Op, lot.n)
			for i := range ops {
				ops[i].Assertion = &rest[i]
			}
			d, err := sealed(h, ops, key, sign)
			if err != nil {
				return nil, err
			}
			j, err := json.Marshal(rest[:lot.n])
			if err != nil {
				return nil, err
			}
			ours, plain, n = ours+len(d.Bytes()), plain+len(zip.EncodeAll(j, nil)), n+lot.n
		}
		each := func(total int) float64 { return float64(total) / float64(n) }
		r := syncResult("bytes_"+lot.name, n, each(ours), "B", fmt.Sprintf("a memory on the wire, %d in a delta, sealed and signed", lot.n))
		out = append(out, r.beside("zstd_json", round(each(plain)), false))
		grown, err := vault.backUp(ctx, as[:lot.n])
		if err != nil {
			return nil, err
		}
		if vault == nil {
			continue
		}
		note := fmt.Sprintf("what the repository grows by for one backup of %d files of JSON, a memory each", lot.n)
		out = append(out, syncResult("bytes_"+lot.name+"_restic", lot.n, float64(grown)/float64(lot.n), "B", note))
	}
	return out, nil
}
