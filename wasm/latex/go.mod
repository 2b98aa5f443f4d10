module codeberg.org/go-latex/latex

go 1.24.0

require golang.org/x/image v0.48.0
