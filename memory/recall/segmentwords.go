package recall

// SegmentWords returns every name and every term that a segment holds, in full. The
// segment itself stores only the part of a term that differs from the one
// before, so a search of its bytes would miss words. Tests use SegmentWords to
// prove that a word is gone. ok is false if b is not a segment.
func SegmentWords(b []byte) (names, terms []string, ok bool, err error) {
	if !isSegment(b) {
		return nil, nil, false, nil
	}
	err = decode(b, func(n, t []string) error {
		names, terms = n, t
		return nil
	}, func(segmentDoc) error { return nil })
	return names, terms, true, err
}
