//! In place of MPI's own collectives in a build without MPI: nothing can make one of these.

use super::candidates::Forced;
use hypercoll::collective::Call;
use std::convert::Infallible;

pub struct Native(Infallible);

pub struct World;

impl Native {
    pub fn can_force(&self) -> bool {
        match self.0 {}
    }

    pub fn algorithms(&self, _: &str) -> Vec<(i64, String)> {
        match self.0 {}
    }

    pub fn has_segments(&self) -> bool {
        match self.0 {}
    }

    pub fn force(&self, _: &Forced) -> hypercoll::Result<()> {
        match self.0 {}
    }

    pub fn ready(&self, _: Option<&Forced>) -> World {
        match self.0 {}
    }

    pub fn run(&self, _: &World, _: &Call, _: &[f64], _: &mut [f64]) {
        match self.0 {}
    }

    pub fn maximum(&self, _: &mut [f64]) {
        match self.0 {}
    }

    pub fn all_gather(&self, _: &[u8]) -> Vec<u8> {
        match self.0 {}
    }

    pub fn abort(&self) -> ! {
        match self.0 {}
    }
}
