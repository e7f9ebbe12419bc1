package recall

// Contents returns every name and every term that a segment holds, whole, as
// they are found in no other way: they are cut where they share a beginning. ok
// is false for what is no segment. It is there to prove that a word is gone.
func Contents(b []byte) (names, terms []string, ok bool, err error) {
	if !isSegment(b) {
		return nil, nil, false, nil
	}
	err = decode(b, func(n, t []string) error {
		names, terms = n, t
		return nil
	}, func(segmentDoc) error { return nil })
	return names, terms, true, err
}
