package rawlog

// OpenUnchecked is OpenPart without checksums, so that what is altered in a
// page reaches the decoders.
func OpenUnchecked(obj Object, columns ...string) (*PartReader, error) {
	r := &PartReader{unchecked: true}
	if err := r.Open(obj, columns...); err != nil {
		return nil, err
	}
	return r, nil
}
