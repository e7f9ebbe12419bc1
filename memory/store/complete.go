package store

import (
	"bytes"
	"cmp"
	"math/bits"

	"github.com/locket-dev/locket/internal/sorting"
)

// A salvage is complete where the records that it takes over add up to the
// buckets, and the buckets to the head or the anchor. Where they don't, records
// may be gone that no guard names any more, and the salvage says so.

// members gives what each record that is there by its guard, or without one, adds
// to its bucket.
func (s *salvage) members() (all [bucketCount]map[string]digest) {
	put := func(n byte, key string, version uint64, tag []byte) {
		if all[n] == nil {
			all[n] = map[string]digest{}
		}
		all[n][key] = s.secrets.member([]byte(key), version, tag)
	}
	for key, g := range s.guards {
		if !s.gone(g.key, g.copyOf) {
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

// exclude finds records that were deleted and look as if they were not, since the
// mark of their deletion was damaged: without them their bucket's digest fits.
func (s *salvage) exclude() {
	const most = 12 // candidates of a bucket, of which each subset is tried
	for n, members := range s.members() {
		b := s.buckets[n]
		var sum digest
		var keys []string
		for key, d := range members {
			sum.add(d)
			keys = append(keys, key)
		}
		if b.version == 0 || b.sum == sum {
			continue
		}
		rank := map[string]int{} // first those of which a deletion was seen
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
		out := 0 // the subset that is left out, a bit for each key
		for n := 1; n < 1<<len(keys) && sum != b.sum; n++ {
			i := bits.TrailingZeros(uint(n)) // Gray's code: each subset differs from the last by one
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

// short compares the buckets with what was found of them: where a record went
// together with its guard, nothing else tells.
func (s *salvage) short() {
	for n, members := range s.members() {
		var sum digest
		for key, d := range members {
			if !s.excluded[key] {
				sum.add(d)
			}
		}
		if b := s.buckets[n]; b.version != 0 && b.sum != sum {
			s.out.Lost = append(s.out.Lost, *damaged(bucketKey(n), "holds other records than were last written: which, can't be told"))
		}
	}
	if !s.last() {
		s.out.Lost = append(s.out.Lost, *damaged(headKey, "not all that was last written is there: which records went, can't be told"))
	}
}

// last reports whether the buckets that were found are those that were last
// written, all of them. Where they are not, records may be gone that nothing else
// names. The head tells, unless a later one was lost; the anchor tells what the
// head was when it was written, even where that head is lost.
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
	if s.head.Generation == 0 { // a store that was made, and never written to
		return !anchored && len(s.newest) == 0 && len(s.found) == 0
	}
	return fits && (!anchored || a.generation < s.head.Generation)
}

// unbucketed is how many transactions in a row may have changed the head's
// counters alone, and no bucket.
const unbucketed = 1000
