package store

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
)

// A salvage is complete if the restored records add up to the digests of the
// buckets, and the buckets to the digest of the head or the anchor. Otherwise
// records may be missing that no guard names, and the salvage reports this.

// members returns what each record adds to its bucket, whether or not it has a
// guard.
func (s *salvage) members() (all [bucketCount]map[string]digest) {
	put := func(n byte, key string, version uint64, tag []byte) {
		if all[n] == nil {
			all[n] = map[string]digest{}
		}
		all[n][key] = s.secrets.member([]byte(key), version, tag)
	}
	for key, g := range s.guards {
		if !s.deletedAfter(g.key, g.copyOf) {
			put(g.key[1], key, g.version, g.tag[:])
		}
	}
	for key, c := range s.newest {
		k := kind(key[0])
		if _, guarded := s.guards[key]; guarded || k == kindHead || k == kindGuard {
			continue
		}
		if why, _ := s.refuses(key, c); why == "" {
			put(s.secrets.guardKey([]byte(key))[1], key, c.version, c.tag[:])
		}
	}
	return all
}

// exclude finds records that were deleted although the mark of their deletion
// is damaged: without them, the bucket's digest is right.
func (s *salvage) exclude() {
	const most = 12 // candidates of a bucket, of which every subset is tried
	for n, members := range s.members() {
		b := s.buckets[n]
		var sum digest
		var keys []string
		for key, d := range members {
			sum.add(d)
			keys = append(keys, key)
		}
		if b.version == 0 || b.sum == sum || s.later(keys, b.version) {
			continue
		}
		rank := map[string]int{} // records of which a deletion was seen come first
		for _, key := range keys {
			guard := s.secrets.guardKey([]byte(key))
			if !s.doubted[key] && !s.doubted[string(guard)] && s.deleted[key] == 0 && s.deleted[string(guard)] == 0 {
				rank[key] = 1
			}
		}
		sorting.Sort(keys, func(a, b string) int {
			return cmp.Or(rank[a]-rank[b], cmp.Compare(a, b))
		})
		keys = keys[:min(len(keys), most)]
		out := 0 // the subset to leave out, a bit for each key
		for n := 1; n < 1<<len(keys) && sum != b.sum; n++ {
			i := bits.TrailingZeros(uint(n)) // Gray code: each subset differs from the previous one by one element
			if out ^= 1 << i; out>>i&1 == 1 {
				sum.sub(members[keys[i]])
			} else {
				sum.add(members[keys[i]])
			}
		}
		for i, key := range keys {
			if sum == b.sum && out>>i&1 == 1 {
				s.excluded[key] = true
			}
		}
	}
}

// later reports whether one of the records was written after a bucket's sum. Then a later
// sum was lost, and this one would exclude the record.
func (s *salvage) later(keys []string, version uint64) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return max(s.newest[key].version, s.guards[key].version) > version })
}

// short compares the buckets with the records that were found. If a record was
// lost together with its guard, nothing else shows it.
func (s *salvage) short() {
	for n, members := range s.members() {
		var sum digest
		for key, d := range members {
			if !s.excluded[key] {
				sum.add(d)
			}
		}
		if b := s.buckets[n]; b.version != 0 && b.sum != sum {
			s.out.Lost = append(s.out.Lost, *damaged(bucketKey(n), "holds other records than were last written; it is not known which"))
		}
	}
	if !s.last() {
		s.out.Lost = append(s.out.Lost, *damaged(headKey, "not everything that was last written is there; it is not known which records are missing"))
	}
}

// last reports whether all the buckets were found, in the state in which they
// were last written. Otherwise records may be missing without a trace. The head
// tells, unless a later head was lost. The anchor tells the head at the time
// when the anchor was written, even if that head is lost.
func (s *salvage) last() bool {
	st := state{head: s.head}
	version := s.head.Version
	for n, b := range s.buckets {
		if b.version != 0 {
			st.total.add(s.secrets.bucket(n, b))
			version = max(version, b.version)
		}
	}
	a, anchored, err := s.secrets.readAnchor(s.dir)
	anchored = anchored && err == nil
	of := head{Generation: a.generation, Total: st.total.bytes()}
	for of.Version = version; anchored && of.Version <= version+unbucketed; of.Version++ {
		if s.secrets.anchorOf(&of) == a {
			return true
		}
	}
	fits := version == s.head.Version && (bytes.Equal(st.total.bytes(), s.head.Total) || s.head.Format == 0)
	if s.head.Generation == 0 { // the store was made and never written to
		return !anchored && len(s.newest) == 0 && len(s.found) == 0
	}
	return fits && (!anchored || a.generation < s.head.Generation)
}

// unbucketed is how many consecutive transactions may have changed only the
// head's counters and no bucket.
const unbucketed = 1000
