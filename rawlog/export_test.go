package rawlog

// OpenUnchecked is OpenPart without checksums, so that what is altered in a
// page reaches the decoders.
func OpenUnchecked(obj Object, columns ...string) (*PartReader, error) {
	r := Unchecked()
	if err := r.Open(obj, columns...); err != nil {
		return nil, err
	}
	return r, nil
}

// Unchecked is a reader that looks at no checksums.
func Unchecked() *PartReader { return &PartReader{unchecked: true} }
