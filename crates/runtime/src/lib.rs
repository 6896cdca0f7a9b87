//! Tasks, time and volumes: the ground everything else stands on.
