package analysis

// DurabilityDiffers tells whether an acknowledgement means one thing in one step and
// another in the next, as where --vary changes what acknowledges.
func (s *Summary) DurabilityDiffers() bool {
	for i := range s.Steps {
		if s.Steps[i].Durability != s.Steps[0].Durability {
			return true
		}
	}
	return false
}

// durabilityIsNew tells whether no step before number i has its settings and its
// durability, so that what differs by the rate alone is said once.
func (s *Summary) durabilityIsNew(i int) bool {
	for j := range i {
		if s.Steps[j].Variant == s.Steps[i].Variant && s.Steps[j].Durability == s.Steps[i].Durability {
			return false
		}
	}
	return true
}

// durabilityName says of which steps a durability is.
func (s *Summary) durabilityName(i int) string {
	if v := s.Steps[i].Variant; v != "" {
		return v
	}
	return s.StepName(i)
}

// DurabilityText says what an acknowledgement means, in all steps or in which.
func (s *Summary) DurabilityText() string {
	if !s.DurabilityDiffers() {
		return s.Queue.Durability
	}
	text := ""
	for i := range s.Steps {
		if s.durabilityIsNew(i) {
			text += s.durabilityName(i) + ": " + s.Steps[i].Durability + " "
		}
	}
	return text[:len(text)-1]
}
